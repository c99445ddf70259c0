#pragma once
#include <cstddef>
#include <map>
#include <string>

namespace dasgd::app {

/// What workers write, passed on by whole lines that begin with the worker.
class WorkerLines {
 public:
  /// Where a worker writes to; the caller closes it.
  int open(std::size_t worker, bool is_error);

  /// Passes on what is there; waits for something at most so long.
  void pass_on(int milliseconds);

 private:
  struct Source {
    std::size_t worker = 0;
    bool is_error = false;
    std::string waiting;  // a line that has no end yet
  };

  void read(int descriptor);

  std::map<int, Source> sources_;  // by their descriptor
};

}  // namespace dasgd::app
