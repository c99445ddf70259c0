// A set of gradients and the exact sum of their updates: what a worker has not applied yet, as one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"

namespace dasgd {

/// (A, s): names and the sum of their updates. Updates are integers that wrap, so
/// (A, s) + (B, t) = (A u B, s + t) wherever A and B share no name; that condition is checked here,
/// and here alone are updates of several names summed outside a replica. A bundle takes one wide
/// number per coordinate however many gradients are in it; of each it keeps the facts, so every
/// staleness stays exact. Owned by one thread.
class Bundle {
 public:
  /// The empty one.
  Bundle() = default;
  /// One that came from elsewhere: the caller fills in its sums, of so many bytes. Throws
  /// std::logic_error for facts with a name twice.
  Bundle(std::vector<GradientFacts> facts, NumberFormat format, std::size_t bytes);

  /// Adds gradients, in the order in which they are to be applied. Throws std::logic_error if one
  /// of them is here already or is of another size.
  void add(std::span<const GradientPtr> gradients);
  /// Adds a bundle behind what is here.
  void add(const Bundle& other);

  std::size_t size() const { return facts_.size(); }
  bool empty() const { return facts_.empty(); }
  /// A.
  const GradientSet& names() const { return names_; }
  /// What is known of its gradients, in the order in which they were added.
  const std::vector<GradientFacts>& facts() const { return facts_; }

  NumberFormat format() const { return format_; }
  std::size_t dimension() const { return sums_.size() / sum_bytes(format_); }
  /// s, as it lies in memory.
  std::span<const std::byte> bytes() const { return sums_; }
  std::span<std::byte> bytes() { return sums_; }
  template <typename Real>
  std::span<const Sum<Real>> sums() const {
    return {reinterpret_cast<const Sum<Real>*>(sums_.data()), sums_.size() / sizeof(Sum<Real>)};
  }

 private:
  template <typename Real>
  void add_numbers(std::span<const GradientPtr> gradients);
  template <typename Real>
  std::span<Sum<Real>> sums() {
    return {reinterpret_cast<Sum<Real>*>(sums_.data()), sums_.size() / sizeof(Sum<Real>)};
  }
  void expect_shape(NumberFormat format, std::size_t bytes);

  std::vector<GradientFacts> facts_;
  GradientSet names_;
  NumberFormat format_ = NumberFormat::of_float;
  std::vector<std::byte> sums_;
};

using BundlePtr = std::shared_ptr<const Bundle>;

}  // namespace dasgd
