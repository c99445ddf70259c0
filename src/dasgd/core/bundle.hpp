// A set of gradients and the exact sum of their updates: what a worker has not applied yet, as one.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dasgd/core/facts_list.hpp"
#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// The sums of a bundle in the memory of a device. What `add` was given can be used for something
/// else when it returns.
class DeviceSums {
 public:
  virtual ~DeviceSums() = default;
  /// False, and nothing has changed, where one of them lies in other memory.
  virtual bool add(std::span<const GradientPtr> gradients) = 0;
  virtual bool add(const DeviceSums& other) = 0;
  /// Others in the same memory; null where there is no room.
  virtual std::shared_ptr<DeviceSums> zero_sums() const = 0;
  /// Copies them to this machine's memory.
  virtual void fetch(std::span<std::byte> to) const = 0;

 private:
  friend class Bundle;
  std::mutex mutex_;  // guards the copy in this machine's memory
};

/// (A, s): names and the sum of their updates. Updates are integers that wrap, so
/// (A, s) + (B, t) = (A u B, s + t) wherever A and B share no name; that condition is checked here,
/// and here alone are updates of several names summed outside a replica. A bundle takes one wide
/// number per coordinate however many gradients are in it; of each it keeps the facts, shared with
/// the bundles that it was made of, so every staleness stays exact. Updates that lie on one device
/// are added there, and their sum comes here when somebody asks for it. Changed by one thread, then
/// read by any.
class Bundle {
 public:
  /// The empty one.
  Bundle() = default;
  /// One that came over a link: the caller fills in its sums, of so many bytes. Throws
  /// std::logic_error for facts with a name twice.
  Bundle(std::vector<GradientFacts> facts, NumberFormat format, std::size_t bytes);

  /// Adds gradients, in the order in which they are to be applied. Throws std::logic_error if one
  /// of them is here already or is of another size.
  void add(std::span<const GradientPtr> gradients);
  /// Adds a bundle behind what is here.
  void add(const Bundle& other);

  std::size_t size() const { return facts_ ? facts_->size() : 0; }
  bool empty() const { return size() == 0; }
  /// A.
  const GradientSet& names() const { return names_; }
  /// Calls `visit(facts)` for every gradient, in the order in which they were added.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (facts_) facts_->for_each(visit);
  }
  GradientName first_name() const { return facts_->front().name; }
  /// A copy of all of them.
  std::vector<GradientFacts> facts() const;
  /// The sum of their `GradientFacts::facts_bytes`.
  std::size_t facts_bytes() const { return facts_ ? facts_->bytes() : 0; }

  NumberFormat format() const { return format_; }
  std::size_t dimension() const { return size_in_bytes_ / sum_bytes(format_); }
  /// Of s; it does not come here for that.
  std::size_t size_in_bytes() const { return size_in_bytes_; }
  /// s, as it lies in memory.
  std::span<const std::byte> bytes() const {
    bring_here();
    return sums_;
  }
  std::span<std::byte> bytes() { return sums_; }
  template <typename Real>
  std::span<const Sum<Real>> sums() const {
    bring_here();
    return {reinterpret_cast<const Sum<Real>*>(sums_.data()), sums_.size() / sizeof(Sum<Real>)};
  }
  /// Null where they are in this machine's memory alone.
  const std::shared_ptr<DeviceSums>& on_device() const { return on_device_; }

 private:
  template <typename Real>
  void add_numbers(std::span<const GradientPtr> gradients);
  template <typename Real>
  std::span<Sum<Real>> sums() {
    return {reinterpret_cast<Sum<Real>*>(sums_.data()), sums_.size() / sizeof(Sum<Real>)};
  }
  FactsList& own_facts();
  void expect_shape(NumberFormat format, std::size_t bytes);
  void bring_here() const;
  void stay_here();

  std::shared_ptr<FactsList> facts_;  // null: none; others refer to it
  GradientSet names_;
  NumberFormat format_ = NumberFormat::of_float;
  std::size_t size_in_bytes_ = 0;
  std::shared_ptr<DeviceSums> on_device_;
  mutable std::vector<std::byte> sums_;  // empty until somebody asks for what is elsewhere
};

using BundlePtr = std::shared_ptr<const Bundle>;

}  // namespace dasgd
