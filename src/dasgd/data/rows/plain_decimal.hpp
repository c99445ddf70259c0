// Plain decimal numbers, read fast.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dasgd {
namespace plain {

inline constexpr std::array<double, 23> powers_of_ten{
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct Digits {
  std::uint64_t value = 0;
  unsigned count = 0;
};

// The digits at the front of eight bytes, read all at once: no branch depends on how many there
// are.
inline Digits digits_of_eight(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  bytes ^= 0x3030303030303030;  // digits become 0 to 9
  const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
  const auto count = others == 0 ? 8u : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {};
  bytes <<= 8 * (8 - count);  // zeros come first
  bytes = bytes * 10 + (bytes >> 8);
  constexpr std::uint64_t every_fourth = 0x000000FF000000FF;
  const std::uint64_t value = ((bytes & every_fourth) * 0x000F424000000064 +
                               ((bytes >> 16) & every_fourth) * 0x0000271000000001) >>
                              32;
  return {value, count};
}

inline double scaled(std::uint64_t digits, std::size_t after_point, bool negative) {
  const double exact = static_cast<double>(digits);
  const double magnitude = after_point == 0 ? exact : exact / powers_of_ten[after_point];
  return negative ? -magnitude : magnitude;
}

inline const char* by_bytes(const char* at, const char* end, char point, double& value) {
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const auto take_digits = [&] {
    const char* const first = at;
    while (at < end && static_cast<unsigned>(*at - '0') < 10)
      digits = digits * 10 + static_cast<unsigned>(*at++ - '0');
    return static_cast<std::size_t>(at - first);
  };
  const std::size_t before_point = take_digits();
  std::size_t after_point = 0;
  if (at < end && *at == point) {
    ++at;
    after_point = take_digits();
  }
  const std::size_t count = before_point + after_point;
  if (count == 0 || count > 15) return nullptr;
  value = scaled(digits, after_point, negative);
  return at;
}

}  // namespace plain

/// A decimal number with up to 15 digits and nothing else: then both the digits and the power of
/// ten are exact doubles, and one division rounds as it should. Returns where it ends; null for
/// anything else, which is read slowly. Those with fewer than eight digits on either side of the
/// point, which most are, are read fastest.
inline const char* plain_decimal(const char* at, const char* end, char point, double& value) {
  constexpr std::ptrdiff_t looked_at = 1 + 8 + 1 + 8;  // sign, digits, point, digits
  if (end - at < looked_at) return plain::by_bytes(at, end, point, value);
  const char* const begin = at;
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  const plain::Digits whole = plain::digits_of_eight(at);
  at += whole.count;
  if (*at != point) {
    if (whole.count == 0) return nullptr;
    if (whole.count == 8) return plain::by_bytes(begin, end, point, value);
    value = plain::scaled(whole.value, 0, negative);
    return at;
  }
  const plain::Digits part = plain::digits_of_eight(at + 1);
  if (whole.count == 8 || part.count == 8 || whole.count + part.count == 0)
    return plain::by_bytes(begin, end, point, value);
  const auto shift = static_cast<std::uint64_t>(plain::powers_of_ten[part.count]);
  value = plain::scaled(whole.value * shift + part.value, part.count, negative);
  return at + 1 + part.count;
}

}  // namespace dasgd
