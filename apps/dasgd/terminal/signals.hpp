// Ctrl-C and SIGTERM.
#pragma once

#include <stop_token>
#include <thread>

namespace dasgd::app {

/// From its creation on, the first SIGINT, SIGTERM or SIGUSR1 asks for a stop and the second leaves
/// at once with status 130. (Launchers pass SIGUSR1 on to their ranks.) Create it before any other
/// thread, so that all threads leave the signals to it.
class SignalStop {
 public:
  enum class Kind {
    alone,
    rank,        ///< of an MPI job: a launcher may send several signals for one Ctrl-C
    quiet_rank,  ///< another rank tells the person
  };
  explicit SignalStop(Kind kind = Kind::alone);
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;
};

}  // namespace dasgd::app
