// How deep a text is nested, before a parser that recurses finds out.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dasgd {

/// No file that dasgd writes or reads comes near it.
inline constexpr std::size_t most_nesting = 32;

/// The line, from 1, on which a text in TOML or JSON opens more than `most` brackets and braces
/// within each other or has a key of more than `most` dots; nothing where no line does. What stands
/// in strings and comments does not count. Takes time in proportion to the text and no memory.
std::optional<std::size_t> line_nested_too_deep(std::string_view text,
                                                std::size_t most = most_nesting);

}  // namespace dasgd
