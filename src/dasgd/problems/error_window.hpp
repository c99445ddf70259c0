// The paper's error: the mean L2 norm of the full gradient over the last 30 models (section 5).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace dasgd {

/// Means over the last 30 values, the first of which belongs to x^0.
class ErrorWindow {
 public:
  static constexpr std::size_t length = 30;

  void add(double value) { values_[count_++ % length] = value; }

  /// The mean of the last 30 values; nothing before there are 30, that is before t = 29.
  std::optional<double> mean() const { return count_ < length ? std::nullopt : mean_so_far(); }
  /// The mean of the last 30 values, or of fewer at the beginning.
  std::optional<double> mean_so_far() const {
    if (count_ == 0) return std::nullopt;
    const std::uint64_t size = std::min<std::uint64_t>(count_, length);
    double sum = 0;  // in order of age, so that the result does not depend on where the ring begins
    for (std::uint64_t k = count_ - size; k < count_; ++k) sum += values_[k % length];
    return sum / static_cast<double>(size);
  }

 private:
  std::array<double, length> values_{};
  std::uint64_t count_ = 0;
};

template <typename Real>
double l2_norm(std::span<const Real> v) {
  double squares = 0;
  for (const Real c : v) squares += static_cast<double>(c) * static_cast<double>(c);
  return std::sqrt(squares);
}

}  // namespace dasgd
