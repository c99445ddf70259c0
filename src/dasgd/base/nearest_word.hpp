// "Did you mean ...?" for every name a person can mistype.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dasgd {

/// The candidate with the fewest edits from `word`, or an empty string when none is close.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean \"ring\"?" or "; choose one of full, ring, star".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace dasgd
