// The page of reports and of the live view, as web/ was built into this library.
#pragma once

#include <string_view>

namespace dasgd::report {

/// One HTML file with a place for its data; empty where it was built without npm.
std::string_view built_page();

/// The message where there is no built page.
inline constexpr std::string_view no_page =
    "this program was built without its page (nodejs and npm were missing)";

}  // namespace dasgd::report
