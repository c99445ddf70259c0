// Numbers in lines of text.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace dasgd {

/// Why a text is not the number of a row.
enum class NoNumber { text, not_finite, too_large };

/// "is not a number", "is not finite", "is beyond the range of float32".
std::string_view in_words(NoNumber why);

/// A number without blanks around it. Models compute in float32 or better, so its range is the
/// limit; what is too close to 0 is 0.
std::variant<double, NoNumber> row_number(std::string_view text);

/// A piece of a file in quotes for a message: its first 40 bytes, `?` for those that do not print.
std::string shown_piece(std::string_view text);

/// The text without the byte order mark that some programs begin UTF-8 files with.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace dasgd
