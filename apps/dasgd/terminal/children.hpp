// Programs that run beside each other and end with this one.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dasgd::app {

/// Child processes of one thread, which end when that thread is gone, however it went.
class Children {
 public:
  struct Ended {
    std::size_t job = 0;
    int status = 0;  ///< exit status, or 128 and the signal
  };

  /// Blocks SIGCHLD, which it waits for; before any other thread begins.
  Children();
  /// Kills what still runs.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Where a program writes: descriptors; less than 0: nowhere.
  struct Streams {
    int out = -1, err = -1;
  };
  /// Starts a program without input. It gets `last_signal` when this thread is gone. Throws
  /// std::runtime_error when there can be no more processes.
  void start(std::size_t job, const std::vector<std::string>& command, Streams streams,
             int last_signal);
  std::size_t running() const { return jobs_.size(); }
  /// Those that have ended; waits for one at most so long.
  std::vector<Ended> wait(std::chrono::milliseconds at_most);
  void signal_all(int signal) const;
  /// With what they have started themselves, as Ctrl-C in a terminal does.
  void signal_groups(int signal) const;

 private:
  std::map<pid_t, std::size_t> jobs_;
};

}  // namespace dasgd::app
