// Lines of a trace on their way to the disk: merged in order of time, in bounded memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd {

/// Workers add what they did; one thread takes the lines out, a piece at a time, in order of time.
/// A line is taken when no worker can hand in an earlier one any more.
///
/// *Memory is bounded.* Beyond `most` lines `add` waits until some are taken, so at most `most`
/// lines and one piece of every worker are here: the disk slows the run down. Nobody waits for
/// another worker: when `most` lines wait because one worker has not said for long what it did, the
/// oldest half of them is taken all the same, and that worker's lines come out of order.
class TraceQueue {
 public:
  TraceQueue(std::size_t workers, std::size_t most)
      : most_(most), sources_(workers), worth_taking_(most / 2) {}

  /// `worker` did `lines`, in this order, and will do nothing more before `up_to`. Any thread.
  /// After `close` nothing is kept.
  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to);

  /// For the one thread that takes. Waits until it is worth while, at most `patience`; false when
  /// nothing will come any more.
  bool wait(std::chrono::milliseconds patience);
  /// Up to `limit` lines that are ready now, in order.
  std::vector<TraceLine> take(std::size_t limit);

  /// All has been added: what is left is ready.
  void finish();
  /// Nobody takes any more; whoever waits in `add` goes on.
  void close();

  std::size_t sources() const { return sources_.size(); }
  std::size_t waiting() const;

 private:
  struct Source {
    std::deque<TraceLine> lines;
    Nanoseconds up_to = -1;
  };
  Nanoseconds safe() const;

  const std::size_t most_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable room_, work_;
  std::vector<Source> sources_;  // their number never changes
  std::size_t waiting_ = 0;
  std::size_t worth_taking_;  // so many lines wake the one that takes
  std::size_t overdue_ = 0;   // lines that are taken although an earlier one may come
  bool finishing_ = false, closed_ = false;
};

}  // namespace dasgd
