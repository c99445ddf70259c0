#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace dasgd::app {

/// What workers write, passed on by whole lines, of 64 KiB or a little more at most, that begin
/// with the worker. What a worker writes to standard error without a pause, such as a traceback,
/// stays together.
class WorkerLines {
 public:
  /// Where a worker writes to; the caller closes it.
  int open(std::size_t worker, bool is_error);
  /// The same as a FIFO, for processes that cannot inherit a descriptor. Throws std::runtime_error.
  void open(std::size_t worker, bool is_error, const std::string& fifo);

  /// Passes on what is there; waits for something at most so long.
  void pass_on(int milliseconds);
  /// Passes on all that was written.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Source {
    std::size_t worker = 0;
    bool is_error = false;
    std::string waiting = {};  // a line that has no end yet
    std::string block = {};    // lines that may go on
    Clock::time_point last = {};
  };

  bool read(int descriptor);
  void pass_block(Source& source);

  std::map<int, Source> sources_;  // by their descriptor
};

}  // namespace dasgd::app
