// What parsers of TOML and JSON must not be given: they recurse, and that of TOML has no answer for
// some characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dasgd {

/// No file that dasgd writes or reads comes near it.
inline constexpr std::size_t most_nesting = 32;

struct TextHazard {
  std::size_t line;  ///< from 1
  std::string what;
};

/// The first line that opens more than `most_nesting` brackets and braces within each other, has a
/// key of more than so many dots, or has a character beyond ASCII where neither takes one: outside
/// strings and comments. Takes time in proportion to the text and no memory.
std::optional<TextHazard> find_text_hazard(std::string_view text);

}  // namespace dasgd
