// Updates as integers: the arithmetic that makes a replica a function of its gradient set,
// literally.
//
// Floating-point addition is neither commutative nor associative across more than two terms, so the
// origin rounds eta * g once to integers and everybody adds those same integers. An update is
// `numbers * 2^shift` in units of q = 2^unit_exponent; a replica is a wide sum of such updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace dasgd {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// The number formats for a model of floats or doubles.
///   unit_exponent  q = 2^unit_exponent is the smallest difference between two models
///   update_bits    an update's numbers are at most 2^update_bits in magnitude
///   step_bits      one update moves a coordinate by at most 2^step_bits units, or it has diverged
///   sum_bits       a coordinate stays below 2^sum_bits units, or it has diverged
///   largest_shift  of an update; shifts are even
/// float: resolution 5.7e-14, one step below 4,096, |x| below 262,144.
/// double: resolution 8.3e-25, one step below 1.1e12, |x| below 7.0e13.
template <typename Real>
struct FixedPoint;

template <>
struct FixedPoint<float> {
  using Number = std::int32_t;
  using Sum = std::int64_t;
  static constexpr int unit_exponent = -44, update_bits = 27, step_bits = 56, sum_bits = 62;
  static constexpr int largest_shift = (step_bits - update_bits + 1) / 2 * 2;
};

template <>
struct FixedPoint<double> {
  using Number = std::int64_t;
  using Sum = Int128;
  static constexpr int unit_exponent = -80, update_bits = 62, step_bits = 120, sum_bits = 126;
  static constexpr int largest_shift = (step_bits - update_bits + 1) / 2 * 2;
};

template <typename Real>
using Number = typename FixedPoint<Real>::Number;
template <typename Real>
using Sum = typename FixedPoint<Real>::Sum;

/// Which of the two formats numbers have, where their type is not at hand.
enum class NumberFormat : std::uint8_t { of_float, of_double };
template <typename Real>
inline constexpr NumberFormat number_format =
    std::is_same_v<Real, float> ? NumberFormat::of_float : NumberFormat::of_double;
constexpr std::size_t number_bytes(NumberFormat format) {
  return format == NumberFormat::of_float ? sizeof(Number<float>) : sizeof(Number<double>);
}
constexpr std::size_t sum_bytes(NumberFormat format) {
  return format == NumberFormat::of_float ? sizeof(Sum<float>) : sizeof(Sum<double>);
}

/// What `add_gradient` did.
struct AddedGradient {
  int shift = 0;
  /// The first coordinate that is not finite or steps too far. Then nothing was written.
  std::optional<std::size_t> diverged_at;
  /// The first coordinate whose sum has left the range of the format.
  std::optional<std::size_t> out_of_range_at;
};

/// The origin's pass over its own gradient: rounds `factor * gradient` to `numbers`, with the
/// finest unit that fits the largest coordinate, adds `numbers << shift` to `sums` and writes x =
/// sums * q.
template <typename Real>
AddedGradient add_gradient(double factor, std::span<const Real> gradient,
                           std::span<Number<Real>> numbers, std::span<Sum<Real>> sums,
                           std::span<Real> x);

/// What `round_gradient` did.
struct RoundedGradient {
  int shift = 0;
  /// The first coordinate that is not finite or steps too far. Then nothing was written.
  std::optional<std::size_t> diverged_at;
};

/// Only the rounding of `add_gradient`, for sums that are kept elsewhere: the same numbers.
template <typename Real>
RoundedGradient round_gradient(double factor, std::span<const Real> gradient,
                               std::span<Number<Real>> numbers);

/// One update to be added: `numbers << shift`.
template <typename Real>
struct Addend {
  const Number<Real>* numbers;
  int shift;
};

/// How many updates one pass over the sums can add.
inline constexpr std::size_t max_fused = 8;

/// Adds up to `max_fused` updates to `sums`: one pass over memory for all that share a shift. The
/// first coordinate that has left the range of the format is returned; the range is such that no
/// sum can have wrapped.
template <typename Real>
std::optional<std::size_t> add_fused(std::span<const Addend<Real>> updates,
                                     std::span<Sum<Real>> sums);

/// Adds sums to sums, which wrap. The first coordinate that is out of the range of the format is
/// returned.
template <typename Real>
std::optional<std::size_t> add_sums(std::span<const Sum<Real>> from, std::span<Sum<Real>> to);

/// x = sums * q.
template <typename Real>
void to_real(std::span<const Sum<Real>> sums, std::span<Real> x);

/// sums = x / q, rounded. The first coordinate that is not finite or out of range is returned.
template <typename Real>
std::optional<std::size_t> from_real(std::span<const Real> x, std::span<Sum<Real>> sums);

}  // namespace dasgd
