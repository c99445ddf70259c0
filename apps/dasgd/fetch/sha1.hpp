#pragma once

#include <string>
#include <string_view>

namespace dasgd::app {

/// The SHA-1 of some bytes, as 40 hexadecimal digits.
std::string sha1(std::string_view bytes);

}  // namespace dasgd::app
