// Writes trace.jsonl while workers run, in order of time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/trace_sink.hpp"

namespace dasgd {

/// The line in the contract's form, with its newline.
std::string to_json(const TraceLine& line);

/// Workers hand in what they did, a piece at a time; a thread of the writer merges the pieces and
/// writes a line once nobody can hand in an earlier one. So every application stands after the
/// computation of its gradient.
class TraceWriter final : public TraceSink {
 public:
  /// One source per worker.
  TraceWriter(const std::string& path, std::size_t workers);
  /// Without `finish` the trace is thrown away.
  ~TraceWriter() override;

  std::size_t sources() const override { return sources_.size(); }
  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override;
  /// `finish` throws what happened.
  bool failed() const override;

  /// Writes what is left, then `last_line` where there is one, and gives the file its final name.
  /// Throws WriteError.
  void finish(const std::string& last_line = "");

 private:
  struct Source {
    std::deque<TraceLine> lines;
    Nanoseconds up_to = -1;
  };
  void run();
  std::vector<TraceLine> take_ready();  // under the lock

  AtomicFile file_;
  mutable std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  std::vector<Source> sources_;
  bool finishing_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace dasgd
