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
    if (parcel.bundle) {
      fold();
      sum().add(*parcel.bundle);
    } else {
      recent_.push_back(parcel.gradient);
      if (recent_.size() == max_fused) fold();
    }
  }

  bool empty() const { return !sum_ && recent_.empty(); }
  /// How many gradients.
  std::size_t size() const { return (sum_ ? sum_->size() : 0) + recent_.size(); }

  /// Of the numbers that it keeps.
  std::size_t size_in_bytes() const {
    std::size_t bytes = sum_ ? sum_->size_in_bytes() : 0;
    for (const GradientPtr& g : recent_) bytes += g->update.size_in_bytes();
    return bytes;
  }

  /// The next message: all of it, in the order in which it came.
  Parcel take() {
    if (!sum_ && recent_.size() == 1) {
      Parcel one = std::move(recent_.front());
      recent_.clear();
      return one;
    }
    fold();
    return BundlePtr(std::exchange(sum_, nullptr));
  }

 private:
  Bundle& sum() {
    if (!sum_) sum_ = std::make_shared<Bundle>();
    return *sum_;
  }
  void fold() {
    if (recent_.empty()) return;
    sum().add(recent_);
    recent_.clear();
  }

  std::shared_ptr<Bundle> sum_;
  std::vector<GradientPtr> recent_;  // behind what is in the sum
};

}  // namespace dasgd
