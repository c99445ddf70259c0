// Where a command that looks at runs writes.
#pragma once

#include <string>
#include <vector>

namespace dasgd::app {

/// `out` where it is given; else the only one of `paths`; else `of_several`. Makes it. Throws
/// InputError for paths that are not directories, and for an `out` that cannot become one.
std::string output_directory(const std::vector<std::string>& paths, const std::string& out,
                             const std::string& of_several);

}  // namespace dasgd::app
