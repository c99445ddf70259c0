// Whether bytes are text.
#pragma once

#include <string_view>

namespace dasgd {

/// Well-formed UTF-8, as TOML and JSON want it: no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes);

}  // namespace dasgd
