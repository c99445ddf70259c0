#include "dasgd/core/fixed_point.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <type_traits>
#include <utility>

// On x86-64 the loader picks a wider version of the kernels where the processor has one; on arm64
// the baseline already has the instructions. (ThreadSanitizer cannot run inside the picker.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define DASGD_KERNEL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DASGD_KERNEL
#endif

namespace dasgd {
namespace {

// |v| as an integer: ordered like the magnitudes, with infinities and NaNs above every number. So
// one integer maximum finds the largest coordinate and whatever is not finite.
std::uint32_t magnitude(float v) { return std::bit_cast<std::uint32_t>(v) & 0x7fffffffu; }
std::uint64_t magnitude(double v) { return std::bit_cast<std::uint64_t>(v) & ~(1ull << 63); }

DASGD_KERNEL float largest(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float v : values) largest = std::max(largest, magnitude(v));
  return std::bit_cast<float>(largest);
}

DASGD_KERNEL double largest(std::span<const double> values) {
  std::uint64_t largest = 0;
  for (const double v : values) largest = std::max(largest, magnitude(v));
  return std::bit_cast<double>(largest);
}

// Rounds half away from zero. From 2^23 on a float is an integer already.
DASGD_KERNEL void round_all(float factor, std::span<const float> gradient,
                            std::int32_t* __restrict__ numbers) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const float v = factor * gradient[i];
    const float half = std::fabs(v) < 0x1p23f ? std::copysign(0.5f, v) : 0.0f;
    numbers[i] = static_cast<std::int32_t>(v + half);
  }
}

void round_all(double factor, std::span<const double> gradient, std::int64_t* numbers) {
  for (std::size_t i = 0; i < gradient.size(); ++i) numbers[i] = std::llrint(factor * gradient[i]);
}

template <typename Real>
std::size_t first_beyond(std::span<const Real> values, double limit) {
  const auto beyond = [limit](Real v) { return !(std::fabs(static_cast<double>(v)) <= limit); };
  return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), beyond) -
                                  values.begin());
}

template <typename Real>
using Unsigned = std::conditional_t<std::is_same_v<Real, float>, std::uint64_t, UInt128>;

// The top two bits of a sum differ exactly when it has left [-2^sum_bits, 2^sum_bits). All
// arithmetic is unsigned, hence free of undefined overflow.
template <typename Real, std::size_t Count>
inline bool add_exactly(const Addend<Real>* updates, std::span<Sum<Real>> sums) {
  using Wide = Unsigned<Real>;
  std::array<const Number<Real>*, Count> numbers;
  std::array<int, Count> shifts;
  for (std::size_t k = 0; k < Count; ++k) {
    numbers[k] = updates[k].numbers;
    shifts[k] = updates[k].shift;
  }
  Sum<Real>* __restrict__ out = sums.data();
  const std::size_t size = sums.size();
  Wide out_of_range = 0;
  for (std::size_t i = 0; i < size; ++i) {
    Wide sum = static_cast<Wide>(out[i]);
    for (std::size_t k = 0; k < Count; ++k)
      sum += static_cast<Wide>(static_cast<Sum<Real>>(numbers[k][i])) << shifts[k];
    out[i] = static_cast<Sum<Real>>(sum);
    out_of_range |= sum ^ (sum << 1);
  }
  return static_cast<Sum<Real>>(out_of_range) < 0;
}

#define DASGD_ADD(Real, Count)                                                            \
  DASGD_KERNEL bool add_##Real##_##Count(const Addend<Real>* u, std::span<Sum<Real>> s) { \
    return add_exactly<Real, Count>(u, s);                                                \
  }
DASGD_ADD(float, 1)
DASGD_ADD(float, 2)
DASGD_ADD(float, 4)
DASGD_ADD(float, 8)
DASGD_ADD(double, 1)
DASGD_ADD(double, 2)
DASGD_ADD(double, 4)
DASGD_ADD(double, 8)
#undef DASGD_ADD

bool add_one_pass(std::size_t count, const Addend<float>* u, std::span<Sum<float>> s) {
  return count == 8   ? add_float_8(u, s)
         : count == 4 ? add_float_4(u, s)
         : count == 2 ? add_float_2(u, s)
                      : add_float_1(u, s);
}

bool add_one_pass(std::size_t count, const Addend<double>* u, std::span<Sum<double>> s) {
  return count == 8   ? add_double_8(u, s)
         : count == 4 ? add_double_4(u, s)
         : count == 2 ? add_double_2(u, s)
                      : add_double_1(u, s);
}

}  // namespace

template <typename Real>
Quantised quantise(double factor, std::span<const Real> gradient, std::span<Number<Real>> numbers) {
  using Format = FixedPoint<Real>;
  assert(gradient.size() == numbers.size());
  const double step = std::fabs(factor) * static_cast<double>(largest(gradient));
  int exponent = 0;  // step / q < 2^exponent
  std::frexp(step, &exponent);
  exponent -= Format::unit_exponent;
  if (!std::isfinite(step) || exponent > Format::step_bits) {
    const double limit = std::ldexp(1.0, Format::step_bits + Format::unit_exponent);
    return {0, std::min(first_beyond(gradient, limit / std::fabs(factor)), gradient.size() - 1)};
  }
  const int shift = step > 0 ? std::max(0, exponent - Format::update_bits) : 0;
  const auto scale = static_cast<Real>(std::ldexp(factor, -Format::unit_exponent - shift));
  if (!std::isfinite(scale)) return {0, 0};
  round_all(scale, gradient, numbers.data());
  return {shift, std::nullopt};
}

template <typename Real>
std::optional<std::size_t> add_fused(std::span<const Addend<Real>> updates,
                                     std::span<Sum<Real>> sums) {
  assert(updates.size() <= max_fused);
  bool out_of_range = false;
  for (std::size_t done = 0; done < updates.size();) {
    const std::size_t count = std::bit_floor(updates.size() - done);
    out_of_range |= add_one_pass(count, updates.data() + done, sums);
    done += count;
  }
  if (!out_of_range) return std::nullopt;
  const auto limit = Sum<Real>{1} << FixedPoint<Real>::sum_bits;
  const auto beyond = [limit](Sum<Real> s) { return s < -limit || s >= limit; };
  const auto at = std::find_if(sums.begin(), sums.end(), beyond);
  return static_cast<std::size_t>((at == sums.end() ? sums.begin() : at) - sums.begin());
}

template <typename Real>
void to_real(std::span<const Sum<Real>> sums, std::span<Real> x) {
  const Real unit = std::ldexp(Real{1}, FixedPoint<Real>::unit_exponent);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(sums[i]) * unit;
}

template <typename Real>
std::optional<std::size_t> from_real(std::span<const Real> x, std::span<Sum<Real>> sums) {
  using Format = FixedPoint<Real>;
  const double limit = std::ldexp(1.0, Format::sum_bits + Format::unit_exponent);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::fabs(static_cast<double>(x[i])) < limit)) return i;
    // Split at 2^-unit/2 bits so that each part is exact in a long integer.
    const double scaled = std::ldexp(static_cast<double>(x[i]), -Format::unit_exponent / 2);
    const double high = std::floor(scaled);
    const double low = std::ldexp(scaled - high, -Format::unit_exponent / 2);
    sums[i] = static_cast<Sum<Real>>(high) * (Sum<Real>{1} << (-Format::unit_exponent / 2)) +
              static_cast<Sum<Real>>(std::nearbyint(low));
  }
  return std::nullopt;
}

template Quantised quantise<float>(double, std::span<const float>, std::span<std::int32_t>);
template Quantised quantise<double>(double, std::span<const double>, std::span<std::int64_t>);
template std::optional<std::size_t> add_fused<float>(std::span<const Addend<float>>,
                                                     std::span<std::int64_t>);
template std::optional<std::size_t> add_fused<double>(std::span<const Addend<double>>,
                                                      std::span<Int128>);
template void to_real<float>(std::span<const std::int64_t>, std::span<float>);
template void to_real<double>(std::span<const Int128>, std::span<double>);
template std::optional<std::size_t> from_real<float>(std::span<const float>,
                                                     std::span<std::int64_t>);
template std::optional<std::size_t> from_real<double>(std::span<const double>, std::span<Int128>);

}  // namespace dasgd
