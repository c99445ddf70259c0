// The page of reports and of the live view, as web/ was built into this program.
#pragma once

#include <string_view>

namespace dasgd::app {

/// One HTML file with a place for its data; empty where the program was built without npm.
std::string_view page();

/// What to tell a person where there is none.
inline constexpr std::string_view no_page =
    "this program was built without its page (nodejs and npm were missing)";

}  // namespace dasgd::app
