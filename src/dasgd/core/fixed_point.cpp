#include "dasgd/core/fixed_point.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dasgd/base/kernel.hpp"

namespace dasgd {
namespace {

// |v| as an integer: ordered like the magnitudes, with infinities and NaNs above every number. So
// one integer maximum finds the largest coordinate and whatever is not finite.
DASGD_INLINE std::uint32_t magnitude(float v) {
  return std::bit_cast<std::uint32_t>(v) & 0x7fffffffu;
}
DASGD_INLINE std::uint64_t magnitude(double v) {
  return std::bit_cast<std::uint64_t>(v) & ~(1ull << 63);
}

// Sixteen maxima side by side, so that none waits for the one before.
template <typename Real>
DASGD_INLINE Real largest_of(std::span<const Real> values) {
  constexpr std::size_t lanes = 16;
  std::array<decltype(magnitude(Real{})), lanes> largest{};
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes)
    for (std::size_t k = 0; k < lanes; ++k)
      largest[k] = std::max(largest[k], magnitude(values[i + k]));
  for (; i < values.size(); ++i) largest[0] = std::max(largest[0], magnitude(values[i]));
  return std::bit_cast<Real>(*std::max_element(largest.begin(), largest.end()));
}

DASGD_KERNEL float largest(std::span<const float> values) { return largest_of(values); }
DASGD_KERNEL double largest(std::span<const double> values) { return largest_of(values); }

template <typename Real>
std::size_t first_beyond(std::span<const Real> values, double limit) {
  const auto beyond = [limit](Real v) { return !(std::fabs(static_cast<double>(v)) <= limit); };
  return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), beyond) -
                                  values.begin());
}

template <typename Real>
using Unsigned = std::conditional_t<std::is_same_v<Real, float>, std::uint64_t, UInt128>;

// Where numbers are added before they are shifted: eight int32 of 27 bits fit into an int32, which
// is four to a vector on every machine.
template <typename Real>
using Partial = std::conditional_t<std::is_same_v<Real, float>, std::int32_t, Int128>;
template <typename Real>
using Wrapping = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, UInt128>;

// number << shift, as wide as a sum. For floats as a product of two int32: vector units multiply,
// widen and add in one instruction. The result of arithmetic on sums is unsigned, hence never
// undefined.
template <typename Real>
DASGD_INLINE Unsigned<Real> shifted(Partial<Real> number, int shift) {
  if constexpr (std::is_same_v<Real, float>) {
    assert(shift <= FixedPoint<float>::largest_shift);
    const std::int32_t factor = 1 << shift;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(number) *
                                      static_cast<std::int64_t>(factor));
  } else {
    return static_cast<UInt128>(number) << shift;
  }
}

// Adds to one sum, and notes in the top bit of `noted` if it has left [-2^sum_bits, 2^sum_bits).
template <typename Real>
DASGD_INLINE void add_to(Sum<Real>& sum, Partial<Real> number, int shift, Unsigned<Real>& noted) {
  constexpr auto bias = Unsigned<Real>{1} << FixedPoint<Real>::sum_bits;
  const auto added = static_cast<Unsigned<Real>>(sum) + shifted<Real>(number, shift);
  sum = static_cast<Sum<Real>>(added);
  noted |= added + bias;
}

// Four cache lines of every update in a row: memory answers long reads from few places at a time
// faster than short ones from many. Spelled as vectors, for the compiler to keep in registers; of
// unsigned numbers, because somebody else's update may hold any.
#if defined(__x86_64__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
using Lanes [[gnu::vector_size(vector_bytes)]] = std::uint32_t;
constexpr std::size_t lanes = vector_bytes / sizeof(std::uint32_t);
constexpr std::size_t row = 64;
static_assert(row % lanes == 0);
static_assert(max_fused << FixedPoint<float>::update_bits <= std::size_t{1} << 30);  // no overflow

template <std::size_t Count>
DASGD_INLINE std::array<std::int32_t, row> sum_of_rows(
    const std::array<const std::int32_t*, Count>& numbers, std::size_t first) {
  std::array<Lanes, row / lanes> sum;
  for (std::size_t v = 0; v < sum.size(); ++v)
    std::memcpy(&sum[v], numbers[0] + first + v * lanes, vector_bytes);
  for (std::size_t k = 1; k < Count; ++k) {
    for (std::size_t v = 0; v < sum.size(); ++v) {
      Lanes next;
      std::memcpy(&next, numbers[k] + first + v * lanes, vector_bytes);
      sum[v] += next;
    }
  }
  return std::bit_cast<std::array<std::int32_t, row>>(sum);
}

// sums += (numbers[0] + ... + numbers[Count - 1]) << shift. True if a sum has left its range.
template <typename Real, std::size_t Count>
DASGD_INLINE bool add_exactly(const std::array<const Number<Real>*, max_fused>& numbers, int shift,
                              std::span<Sum<Real>> sums) {
  std::array<const Number<Real>*, Count> in;
  std::copy_n(numbers.begin(), Count, in.begin());
  Sum<Real>* __restrict__ out = sums.data();
  const std::size_t size = sums.size();
  Unsigned<Real> noted = 0;
  std::size_t i = 0;
  if constexpr (std::is_same_v<Real, float> && Count > 1) {
    for (; i + row <= size; i += row) {
      const auto sum = sum_of_rows(in, i);
      for (std::size_t j = 0; j < row; ++j) add_to<Real>(out[i + j], sum[j], shift, noted);
    }
  }
  for (; i < size; ++i) {
    Wrapping<Real> sum = 0;
    for (std::size_t k = 0; k < Count; ++k) sum += static_cast<Wrapping<Real>>(in[k][i]);
    add_to<Real>(out[i], static_cast<Partial<Real>>(sum), shift, noted);
  }
  return static_cast<Sum<Real>>(noted) < 0;
}

template <typename Real>
DASGD_INLINE void round_all(Real factor, std::span<const Real> gradient,
                            Number<Real>* __restrict__ numbers) {
  for (std::size_t i = 0; i < gradient.size(); ++i)
    numbers[i] = static_cast<Number<Real>>(std::nearbyint(factor * gradient[i]));
}

DASGD_KERNEL void round_float(float factor, std::span<const float> gradient,
                              std::int32_t* numbers) {
  round_all<float>(factor, gradient, numbers);
}

DASGD_KERNEL void show_float(std::span<const std::int64_t> sums, float* __restrict__ x) {
  const double unit = std::ldexp(1.0, FixedPoint<float>::unit_exponent);
  for (std::size_t i = 0; i < sums.size(); ++i)
    x[i] = static_cast<float>(static_cast<double>(sums[i]) * unit);
}

#define DASGD_ADD(Real, Count)                                              \
  DASGD_KERNEL bool add_##Real##_##Count(                                   \
      const std::array<const Number<Real>*, max_fused>& numbers, int shift, \
      std::span<Sum<Real>> sums) {                                          \
    return add_exactly<Real, Count>(numbers, shift, sums);                  \
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

template <typename Real>
bool add_one_pass(std::size_t count, const std::array<const Number<Real>*, max_fused>& numbers,
                  int shift, std::span<Sum<Real>> sums) {
  if constexpr (std::is_same_v<Real, float>) {
    if (count == 8) return add_float_8(numbers, shift, sums);
    if (count == 4) return add_float_4(numbers, shift, sums);
    return count == 2 ? add_float_2(numbers, shift, sums) : add_float_1(numbers, shift, sums);
  } else {
    if (count == 8) return add_double_8(numbers, shift, sums);
    if (count == 4) return add_double_4(numbers, shift, sums);
    return count == 2 ? add_double_2(numbers, shift, sums) : add_double_1(numbers, shift, sums);
  }
}

template <typename Real>
std::optional<std::size_t> first_out_of_range(std::span<const Sum<Real>> sums) {
  const auto limit = Sum<Real>{1} << FixedPoint<Real>::sum_bits;
  const auto beyond = [limit](Sum<Real> s) { return s < -limit || s >= limit; };
  const auto at = std::find_if(sums.begin(), sums.end(), beyond);
  return static_cast<std::size_t>((at == sums.end() ? sums.begin() : at) - sums.begin());
}

/// The unit of an update, 2^shift, and the factor that turns a coordinate into so many of them.
template <typename Real>
struct UpdateUnit {
  int shift = 0;
  Real scale = 0;
  std::optional<std::size_t> diverged_at;
};

// The finest unit that fits the largest coordinate.
template <typename Real>
UpdateUnit<Real> unit_for(double factor, std::span<const Real> gradient) {
  using Format = FixedPoint<Real>;
  const double step = std::fabs(factor) * static_cast<double>(largest(gradient));
  int exponent = 0;  // step / q < 2^exponent
  std::frexp(step, &exponent);
  exponent -= Format::unit_exponent;
  if (!std::isfinite(step) || exponent > Format::step_bits) {
    const double limit = std::ldexp(1.0, Format::step_bits + Format::unit_exponent);
    const std::size_t at = first_beyond(gradient, limit / std::fabs(factor));
    return {.diverged_at = std::min(at, gradient.size() - 1)};
  }
  // Even shifts only: gradients of similar size then share one, and are added in one pass.
  const int shift = step > 0 ? (std::max(0, exponent - Format::update_bits) + 1) / 2 * 2 : 0;
  const auto scale = static_cast<Real>(std::ldexp(factor, -Format::unit_exponent - shift));
  if (!std::isfinite(scale)) return {.diverged_at = 0};
  return {.shift = shift, .scale = scale};
}

template <typename Real>
void round_to(Real scale, std::span<const Real> gradient, Number<Real>* numbers) {
  if constexpr (std::is_same_v<Real, float>) {
    round_float(scale, gradient, numbers);
  } else {
    round_all<Real>(scale, gradient, numbers);
  }
}

}  // namespace

template <typename Real>
AddedGradient add_gradient(double factor, std::span<const Real> gradient,
                           std::span<Number<Real>> numbers, std::span<Sum<Real>> sums,
                           std::span<Real> x) {
  assert(gradient.size() == numbers.size() && gradient.size() == sums.size());
  const auto [shift, scale, diverged_at] = unit_for(factor, gradient);
  if (diverged_at) return {.diverged_at = diverged_at};
  bool out_of_range = false;
  constexpr std::size_t block = 1024;  // small enough to stay in the first cache from step to step
  for (std::size_t first = 0; first < gradient.size(); first += block) {
    const std::size_t size = std::min(block, gradient.size() - first);
    Number<Real>* const rounded = numbers.data() + first;
    round_to<Real>(scale, gradient.subspan(first, size), rounded);
    out_of_range |= add_one_pass<Real>(1, {rounded}, shift, sums.subspan(first, size));
    to_real<Real>(sums.subspan(first, size), x.subspan(first, size));
  }
  return {.shift = shift,
          .out_of_range_at = out_of_range ? first_out_of_range<Real>(sums) : std::nullopt};
}

template <typename Real>
RoundedGradient round_gradient(double factor, std::span<const Real> gradient,
                               std::span<Number<Real>> numbers) {
  assert(gradient.size() == numbers.size());
  const auto [shift, scale, diverged_at] = unit_for(factor, gradient);
  if (!diverged_at) round_to<Real>(scale, gradient, numbers.data());
  return {.shift = shift, .diverged_at = diverged_at};
}

template <typename Real>
std::optional<std::size_t> add_fused(std::span<const Addend<Real>> updates,
                                     std::span<Sum<Real>> sums) {
  assert(updates.size() <= max_fused);
  bool out_of_range = false;
  std::array<bool, max_fused> done{};
  for (std::size_t first = 0; first < updates.size(); ++first) {
    std::array<const Number<Real>*, max_fused> numbers;  // of all that share the shift of `first`
    std::size_t count = 0;
    for (std::size_t k = first; k < updates.size(); ++k) {
      if (done[k] || updates[k].shift != updates[first].shift) continue;
      done[k] = true;
      numbers[count++] = updates[k].numbers;
    }
    while (count > 0) {
      const std::size_t pass = std::bit_floor(count);
      count -= pass;
      std::array<const Number<Real>*, max_fused> of_pass{};
      std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(count), pass, of_pass.begin());
      out_of_range |= add_one_pass<Real>(pass, of_pass, updates[first].shift, sums);
    }
  }
  return out_of_range ? first_out_of_range<Real>(sums) : std::nullopt;
}

template <typename Real>
std::optional<std::size_t> add_sums(std::span<const Sum<Real>> from, std::span<Sum<Real>> to) {
  assert(from.size() == to.size());
  constexpr auto bias = Unsigned<Real>{1} << FixedPoint<Real>::sum_bits;
  Unsigned<Real> noted = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto added = static_cast<Unsigned<Real>>(to[i]) + static_cast<Unsigned<Real>>(from[i]);
    to[i] = static_cast<Sum<Real>>(added);
    noted |= added + bias;
  }
  return static_cast<Sum<Real>>(noted) < 0 ? first_out_of_range<Real>(to) : std::nullopt;
}

template <typename Real>
void to_real(std::span<const Sum<Real>> sums, std::span<Real> x) {
  if constexpr (std::is_same_v<Real, float>) {
    show_float(sums, x.data());
  } else {
    const double unit = std::ldexp(1.0, FixedPoint<Real>::unit_exponent);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(sums[i]) * unit;
  }
}

template <typename Real>
std::optional<std::size_t> from_real(std::span<const Real> x, std::span<Sum<Real>> sums) {
  using Format = FixedPoint<Real>;
  const double limit = std::ldexp(1.0, Format::sum_bits + Format::unit_exponent);
  const double half = std::ldexp(1.0, -Format::unit_exponent / 2);  // products with it are exact
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(std::fabs(static_cast<double>(x[i])) < limit)) return i;
    // Split at 2^-unit/2 bits so that each part is exact in a long integer.
    const double scaled = static_cast<double>(x[i]) * half;
    const double high = std::floor(scaled);
    const double low = (scaled - high) * half;
    sums[i] = static_cast<Sum<Real>>(high) * (Sum<Real>{1} << (-Format::unit_exponent / 2)) +
              static_cast<Sum<Real>>(std::nearbyint(low));
  }
  return std::nullopt;
}

template AddedGradient add_gradient<float>(double, std::span<const float>, std::span<std::int32_t>,
                                           std::span<std::int64_t>, std::span<float>);
template AddedGradient add_gradient<double>(double, std::span<const double>,
                                            std::span<std::int64_t>, std::span<Int128>,
                                            std::span<double>);
template RoundedGradient round_gradient<float>(double, std::span<const float>,
                                               std::span<std::int32_t>);
template RoundedGradient round_gradient<double>(double, std::span<const double>,
                                                std::span<std::int64_t>);
template std::optional<std::size_t> add_fused<float>(std::span<const Addend<float>>,
                                                     std::span<std::int64_t>);
template std::optional<std::size_t> add_fused<double>(std::span<const Addend<double>>,
                                                      std::span<Int128>);
template std::optional<std::size_t> add_sums<float>(std::span<const std::int64_t>,
                                                    std::span<std::int64_t>);
template std::optional<std::size_t> add_sums<double>(std::span<const Int128>, std::span<Int128>);
template void to_real<float>(std::span<const std::int64_t>, std::span<float>);
template void to_real<double>(std::span<const Int128>, std::span<double>);
template std::optional<std::size_t> from_real<float>(std::span<const float>,
                                                     std::span<std::int64_t>);
template std::optional<std::size_t> from_real<double>(std::span<const double>, std::span<Int128>);

}  // namespace dasgd
