// A gradient as it travels: a name, where it was computed, and eta * g in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

/// The numbers of an update, -eta * g, in integers: `numbers << shift` units (see fixed_point.hpp).
/// The bytes are kept without a type, so that only workers need to know float from double.
class Update {
 public:
  template <typename Real>
  std::span<Number<Real>> numbers() {
    return {reinterpret_cast<Number<Real>*>(bytes_.data()), bytes_.size() / sizeof(Number<Real>)};
  }
  template <typename Real>
  std::span<const Number<Real>> numbers() const {
    return {reinterpret_cast<const Number<Real>*>(bytes_.data()),
            bytes_.size() / sizeof(Number<Real>)};
  }
  template <typename Real>
  void resize(std::size_t dimension) {
    resize_bytes(dimension * sizeof(Number<Real>), number_format<Real>);
  }
  void resize_bytes(std::size_t size, NumberFormat format) {
    format_ = format;
    bytes_.resize(size);
  }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  NumberFormat format() const { return format_; }

  int shift = 0;

 private:
  NumberFormat format_ = NumberFormat::of_float;
  std::vector<std::byte> bytes_;
};

/// All that is known of a gradient but its numbers.
struct GradientFacts {
  GradientName name;
  std::uint64_t origin_step = 0;  ///< s: the origin's step counter when it computed this gradient
  double eta = 0;                 ///< the step size that is already in the update
  std::uint32_t samples = 0;      ///< of which it is the mean
  GradientSet compute_set;        ///< D(g) = G_j^s, what the origin had applied; |D(g)| = s
};

/// What the origin sends. Written once by the origin, then shared and never changed.
struct Gradient : GradientFacts {
  Update update;
};

using GradientPtr = std::shared_ptr<const Gradient>;

}  // namespace dasgd
