#include "dasgd/elastic/membership/origin.hpp"

#include <charconv>
#include <fmt/format.h>
#include <random>

namespace dasgd::elastic {

Origin Origin::random() {
  std::random_device bits;
  const auto word = [&] { return (std::uint64_t{bits()} << 32) | bits(); };
  return {word(), word()};
}

std::string Origin::text() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<Origin> Origin::parse(std::string_view text) {
  Origin origin;
  if (text.size() != 32) return std::nullopt;
  const auto read = [](std::string_view digits, std::uint64_t& word) {
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, word, 16);
    return error == std::errc() && at == end;
  };
  if (!read(text.substr(0, 16), origin.high) || !read(text.substr(16), origin.low))
    return std::nullopt;
  return origin;
}

}  // namespace dasgd::elastic
