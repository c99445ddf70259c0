// Ctrl-C and SIGTERM.
#pragma once

#include <stop_token>
#include <thread>

namespace dasgd::app {

/// From its creation on, the first SIGINT or SIGTERM asks for a stop and the second leaves at once
/// with status 130. Create it before any other thread, so that all threads leave the signals to it.
class SignalStop {
 public:
  SignalStop();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;
};

}  // namespace dasgd::app
