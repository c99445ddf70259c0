#include "dasgd/base/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace dasgd {
namespace {

// How many bytes the first one announces; 0 for one that cannot be first.
std::size_t announced(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // a later byte, or an overlong form
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

// The second byte shows overlong forms, surrogates and what is beyond Unicode.
bool may_follow(std::uint8_t first, std::uint8_t second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second < 0xA0;
  if (first == 0xF0) return second >= 0x90;
  return first != 0xF4 || second < 0x90;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = announced(byte(at));
    if (length == 0 || length > bytes.size() - at) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(at + k) & 0xC0) != 0x80) return false;
    if (length > 1 && !may_follow(byte(at), byte(at + 1))) return false;
    at += length;
  }
  return true;
}

}  // namespace dasgd
