#include "dasgd/core/few_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dasgd/base/kernel.hpp"

namespace dasgd {
namespace {

template <typename Real>
int width_of(Sum<Real> magnitude) {  // of a number that is not negative
  const auto high = static_cast<std::uint64_t>(static_cast<UInt128>(magnitude) >> 64);
  const auto low = static_cast<std::uint64_t>(magnitude);
  return static_cast<int>(high ? 64 + std::bit_width(high) : std::bit_width(low));
}

// Adds `numbers << shift` to what is left; the largest magnitude of the sums.
template <typename Real>
DASGD_INLINE Sum<Real> gather(std::span<const Number<Real>> numbers, int shift,
                              Sum<Real>* __restrict__ left) {
  Sum<Real> largest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    left[i] += static_cast<Sum<Real>>(numbers[i]) << shift;
    largest = std::max(largest, left[i] < 0 ? -left[i] : left[i]);
  }
  return largest;
}

// Rounds what is left to multiples of 2^unit, half away from zero, written in units of 2^shift.
template <typename Real>
DASGD_INLINE void round_off(std::span<Sum<Real>> left, int unit, int shift,
                            Number<Real>* __restrict__ numbers) {
  const Sum<Real> half = unit > 0 ? Sum<Real>{1} << (unit - 1) : 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Sum<Real> v = left[i];
    const Sum<Real> magnitude = ((v < 0 ? -v : v) + half) >> unit;
    const Sum<Real> rounded = v < 0 ? -magnitude : magnitude;
    numbers[i] = static_cast<Number<Real>>(rounded << (unit - shift));
    left[i] = v - (rounded << unit);
  }
}

DASGD_KERNEL std::int64_t gather_block(std::span<const std::int32_t> numbers, int shift,
                                       std::int64_t* left) {
  return gather<float>(numbers, shift, left);
}
DASGD_KERNEL void round_block(std::span<std::int64_t> left, int unit, int shift,
                              std::int32_t* numbers) {
  round_off<float>(left, unit, shift, numbers);
}
Int128 gather_block(std::span<const std::int64_t> numbers, int shift, Int128* left) {
  return gather<double>(numbers, shift, left);
}
void round_block(std::span<Int128> left, int unit, int shift, std::int64_t* numbers) {
  round_off<double>(left, unit, shift, numbers);
}

// The smallest unit in which this number has so many bits.
template <typename Real>
int unit_of(Sum<Real> largest, int bits) {
  const int unit = std::max(0, width_of<Real>(largest) - bits);
  // Rounding up may need one bit more than the number has.
  const Sum<Real> limit = (Sum<Real>{1} << bits) - 1;
  return unit > 0 && ((largest + (Sum<Real>{1} << (unit - 1))) >> unit) > limit ? unit + 1 : unit;
}

}  // namespace

template <typename Real>
std::optional<std::size_t> FewBits<Real>::make(double eta, std::span<const Real> gradient,
                                               Update& update) {
  const std::size_t d = residual_.size();
  update.resize<Real>(d);
  const auto numbers = update.numbers<Real>();
  const RoundedGradient full = round_gradient<Real>(-eta, gradient, numbers);
  if (full.diverged_at) return full.diverged_at;
  const std::size_t block =
      format_ == MessageFormat::full ? std::max<std::size_t>(d, 1) : block_size;
  units_.clear();
  for (std::size_t b = 0; b < d; b += block)
    units_.push_back(unit_of<Real>(
        gather_block(numbers.subspan(b, std::min(block, d - b)), full.shift, &residual_[b]),
        bits_));
  // One shift for all blocks, which is even: numbers of the coarsest must fit above it.
  int shift = 0;
  if (d > 0) {
    const auto [least, most] = std::minmax_element(units_.begin(), units_.end());
    const int lowest = std::max(0, *most - (FixedPoint<Real>::update_bits - bits_));
    shift =
        std::min(std::max(*least / 2 * 2, (lowest + 1) / 2 * 2), FixedPoint<Real>::largest_shift);
  }
  for (std::size_t b = 0; b < d; b += block)
    round_block(std::span(residual_).subspan(b, std::min(block, d - b)),
                std::max(units_[b / block], shift), shift, &numbers[b]);
  update.shift = shift;
  return std::nullopt;
}

template <typename Real>
double FewBits<Real>::residual_norm() const {
  double sum = 0;
  for (const Sum<Real> v : residual_) {
    const double x = std::ldexp(static_cast<double>(v), FixedPoint<Real>::unit_exponent);
    sum += x * x;
  }
  return std::sqrt(sum);
}

template <typename Real>
void FewBits<Real>::add_residual(std::span<const Sum<Real>> more) {
  for (std::size_t i = 0; i < residual_.size() && i < more.size(); ++i) residual_[i] += more[i];
}

template class FewBits<float>;
template class FewBits<double>;

}  // namespace dasgd
