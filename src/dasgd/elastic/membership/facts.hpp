// What must be the same at all members of a run (see Hello).
#pragma once

#include <string>

namespace dasgd::elastic {

/// The first line that differs, in words; empty: none.
std::string difference(const std::string& of_run, const std::string& yours);

}  // namespace dasgd::elastic
