// Ctrl-C, SIGTERM and the end of the terminal.
#pragma once

#include <stop_token>
#include <thread>
#include <unistd.h>

#include "terminal/exit_status.hpp"

namespace dasgd::app {

/// From its creation on, the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 asks for a stop and the
/// second leaves at once with status 130. (Launchers pass SIGUSR1 on to their ranks. SIGHUP stays
/// ignored where it was, as by nohup.) What comes within 300 ms of the first, or within 3 s on a
/// rank, is the same wish: timeout(1) signals a process and its group, a launcher sends several for
/// one Ctrl-C. A stop that has not ended after ten minutes, or DASGD_STOP_LIMIT seconds, is left as
/// by a second signal. Create it before any other thread, so that all threads leave the signals to
/// it.
class SignalStop {
 public:
  enum class Kind {
    alone,
    rank,        ///< of an MPI job
    quiet_rank,  ///< another rank prints the message
    sweep,       ///< of several runs
    silent,      ///< the command prints the message itself
    launch,      ///< of several workers, which get the signal
  };
  explicit SignalStop(Kind kind = Kind::alone);
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_;
};

/// Does `read`, which may take long or wait for a pipe that nobody writes into, and returns what it
/// does. Nothing has begun yet: the first signal leaves at once with status 130.
template <typename Read>
auto leaving_at_once(Read&& read) {
  const SignalStop signals(SignalStop::Kind::silent);
  const std::stop_callback leave(signals.token(), [] { ::_exit(interrupted); });
  return read();
}

}  // namespace dasgd::app
