// What waits for one link: bound to a message only when the link is free.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/transport/parcel.hpp"

namespace dasgd {

/// Everything that a link has still to carry, as one bundle: its memory is bounded by one sum and a
/// few updates however long the link is busy, and a link is never behind by more than the message
/// that it carries. Only where every name comes once over every link: on a tree, or where workers
/// send their own names alone. Owned by one thread.
class Pending {
 public:
  void add(const Parcel& parcel) {
    if (parcel.gradient) {
      recent_.push_back(parcel.gradient);
      if (recent_.size() == max_fused) fold();
    } else if (empty()) {
      first_ = parcel.bundle;
    } else {
      fold();
      sum().add(*parcel.bundle);
    }
  }

  bool empty() const { return !first_ && !sum_ && recent_.empty(); }
  /// How many gradients.
  std::size_t size() const {
    return (first_ ? first_->size() : 0) + (sum_ ? sum_->size() : 0) + recent_.size();
  }

  /// Of the numbers that it keeps.
  std::size_t size_in_bytes() const {
    std::size_t bytes = first_ ? first_->size_in_bytes() : sum_ ? sum_->size_in_bytes() : 0;
    for (const GradientPtr& g : recent_) bytes += g->update.size_in_bytes();
    return bytes;
  }

  /// The next message: all of it, in the order in which it came.
  Parcel take() {
    if (!first_ && !sum_ && recent_.size() == 1) {
      Parcel one = std::move(recent_.front());
      recent_.clear();
      return one;
    }
    if (first_ && recent_.empty()) return std::exchange(first_, nullptr);
    fold();
    return BundlePtr(std::exchange(sum_, nullptr));
  }

 private:
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

  BundlePtr first_;  // as it came, while there is no sum
  std::shared_ptr<Bundle> sum_;
  std::vector<GradientPtr> recent_;  // behind what is in the sum
};

}  // namespace dasgd
