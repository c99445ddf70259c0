// The exit statuses of the program.
#pragma once

namespace dasgd::app {

enum ExitStatus { done = 0, run_failed = 1, bad_input = 2, interrupted = 130 };

}  // namespace dasgd::app
