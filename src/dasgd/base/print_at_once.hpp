// Lines for a person, from threads that others wait for.
#pragma once

#include <string_view>

namespace dasgd {

/// Writes to standard error what it takes within 20 ms, and drops the rest: a terminal that Ctrl-S
/// has stopped and a pipe that nobody reads do not hold the caller up. For threads of the network,
/// of the progress and of signals. Past stdio. Any thread.
void print_at_once(std::string_view text) noexcept;

}  // namespace dasgd
