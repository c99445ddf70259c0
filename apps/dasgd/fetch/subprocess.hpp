// Other programs, without a shell in between.
#pragma once

#include <string>
#include <vector>

namespace dasgd::app {

/// Runs a program found in $PATH and waits for it. Returns its exit status; 127 if it is not there,
/// 128 + N if signal N ended it. Its standard output goes to standard error.
int run_program(const std::vector<std::string>& command);

}  // namespace dasgd::app
