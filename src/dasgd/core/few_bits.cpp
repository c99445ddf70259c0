#include "dasgd/core/few_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace dasgd {
namespace {

template <typename Real>
int width_of(Sum<Real> magnitude) {  // of a number that is not negative
  const auto high = static_cast<std::uint64_t>(static_cast<UInt128>(magnitude) >> 64);
  const auto low = static_cast<std::uint64_t>(magnitude);
  return static_cast<int>(high ? 64 + std::bit_width(high) : std::bit_width(low));
}

}  // namespace

// The smallest that leaves the largest number of a block within its bits.
template <typename Real>
int FewBits<Real>::unit_of(std::span<const Sum<Real>> block) const {
  Sum<Real> largest = 0;
  for (const Sum<Real> v : block) largest = std::max(largest, v < 0 ? -v : v);
  const int unit = std::max(0, width_of<Real>(largest) - bits_);
  // Rounding up may need one bit more than the number has.
  const Sum<Real> limit = (Sum<Real>{1} << bits_) - 1;
  return unit > 0 && ((largest + (Sum<Real>{1} << (unit - 1))) >> unit) > limit ? unit + 1 : unit;
}

template <typename Real>
std::optional<std::size_t> FewBits<Real>::make(double eta, std::span<const Real> gradient,
                                               Update& update) {
  const std::size_t d = residual_.size();
  update.resize<Real>(d);
  const auto numbers = update.numbers<Real>();
  const RoundedGradient full = round_gradient<Real>(-eta, gradient, numbers);
  if (full.diverged_at) return full.diverged_at;
  for (std::size_t i = 0; i < d; ++i)
    residual_[i] += static_cast<Sum<Real>>(numbers[i]) * (Sum<Real>{1} << full.shift);
  const std::size_t size =
      format_ == MessageFormat::full ? std::max<std::size_t>(d, 1) : block_size;
  units_.clear();
  for (std::size_t b = 0; b < d; b += size)
    units_.push_back(unit_of(std::span(residual_).subspan(b, std::min(size, d - b))));
  // One shift for all blocks, which is even: numbers of the coarsest must fit above it.
  int shift = 0;
  if (d > 0) {
    const auto [least, most] = std::minmax_element(units_.begin(), units_.end());
    const int lowest = std::max(0, *most - (FixedPoint<Real>::update_bits - bits_));
    shift =
        std::min(std::max(*least / 2 * 2, (lowest + 1) / 2 * 2), FixedPoint<Real>::largest_shift);
  }
  for (std::size_t i = 0; i < d; ++i) {
    const int unit = std::max(units_[i / size], shift);
    const Sum<Real> v = residual_[i], half = unit > 0 ? Sum<Real>{1} << (unit - 1) : 0;
    const Sum<Real> rounded = v < 0 ? -((half - v) >> unit) : (v + half) >> unit;
    numbers[i] = static_cast<Number<Real>>(rounded * (Sum<Real>{1} << (unit - shift)));
    residual_[i] = v - rounded * (Sum<Real>{1} << unit);
  }
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
