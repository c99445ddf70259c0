// What waits for one link: bound to a message only when the link is free.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/transport/facts_limit.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd {

/// Everything that a link has still to carry, as one bundle: its memory is bounded by one sum and a
/// few updates however long the link is busy, and a link is never behind by more than the message
/// that it carries. The facts of gradients cannot be summed: what is known of more of them than one
/// message may bring is a further bundle. Only where every name comes once over every link: on a
/// tree, or where workers send their own names alone. Owned by one thread.
class Pending {
 public:
  Pending() = default;
  explicit Pending(FactsLimit limit) : limit_(limit) {}

  void add(const Parcel& parcel) {
    const std::size_t facts = parcel.facts_bytes();
    if (!open_is_empty() && !limit_.allows(facts_bytes_ + facts, parcel.size_in_bytes()))
      full_.push_back(take_open());
    facts_bytes_ += facts;
    if (parcel.gradient) {
      recent_.push_back(parcel.gradient);
      if (recent_.size() == max_fused) fold();
    } else if (open_is_empty()) {
      first_ = parcel.bundle;
    } else {
      fold();
      sum().add(*parcel.bundle);
    }
  }

  bool empty() const { return full_.empty() && open_is_empty(); }
  /// How many gradients.
  std::size_t size() const {
    std::size_t gradients = recent_.size();
    for_each_whole([&](const auto& bundle) { gradients += bundle.size(); });
    return gradients;
  }

  /// Of the numbers that it keeps.
  std::size_t size_in_bytes() const {
    std::size_t bytes = 0;
    for_each_whole([&](const auto& bundle) { bytes += bundle.size_in_bytes(); });
    for (const GradientPtr& g : recent_) bytes += g->update.size_in_bytes();
    return bytes;
  }

  /// The next message: all of it, or of several bundles the oldest, in the order in which it came.
  Parcel take() {
    if (full_.empty()) return take_open();
    Parcel oldest = std::move(full_.front());
    full_.erase(full_.begin());
    return oldest;
  }

 private:
  bool open_is_empty() const { return !first_ && !sum_ && recent_.empty(); }
  Parcel take_open() {
    facts_bytes_ = 0;
    if (!first_ && !sum_ && recent_.size() == 1) {
      Parcel one = std::move(recent_.front());
      recent_.clear();
      return one;
    }
    if (first_ && recent_.empty()) return std::exchange(first_, nullptr);
    fold();
    return BundlePtr(std::exchange(sum_, nullptr));
  }
  template <typename Visit>
  void for_each_whole(Visit&& visit) const {
    for (const Parcel& parcel : full_) visit(parcel);
    if (first_) visit(*first_);
    if (sum_) visit(*sum_);
  }
  Bundle& sum() {
    if (!sum_) sum_ = std::make_shared<Bundle>();
    if (first_) sum_->add(*std::exchange(first_, nullptr));
    return *sum_;
  }
  void fold() {
    if (recent_.empty()) return;
    sum().add(recent_);
    recent_.clear();
  }

  FactsLimit limit_;
  std::vector<Parcel> full_;  // oldest first; what follows is open to more
  BundlePtr first_;           // as it came, while there is no sum
  std::shared_ptr<Bundle> sum_;
  std::vector<GradientPtr> recent_;  // behind what is in the sum
  std::size_t facts_bytes_ = 0;      // of what is open
};

}  // namespace dasgd
