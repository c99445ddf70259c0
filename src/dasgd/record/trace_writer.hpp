// Writes trace.jsonl while workers run, in order of time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/record/atomic_file.hpp"

namespace dasgd {

/// One application, as it is written.
struct TraceLine {
  WorkerId worker{};
  std::uint64_t step = 0;
  GradientName name;
  std::uint64_t origin_step = 0;
  Nanoseconds time = 0;
  std::optional<Nanoseconds> start;
  std::uint64_t S = 0;
  std::optional<std::uint64_t> S_hat;
};

/// The line in the contract's form, with its newline.
std::string to_json(const TraceLine& line);

/// Takes what workers did, a piece at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// `worker` did `lines`, in this order, and will do nothing more before `up_to`. Any thread.
  virtual void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) = 0;
};

/// Workers hand in what they did, a piece at a time; a thread of the writer merges the pieces and
/// writes a line once nobody can hand in an earlier one. So every application stands after the
/// computation of its gradient.
class TraceWriter final : public TraceSink {
 public:
  /// One source per worker.
  TraceWriter(const std::string& path, std::size_t workers);
  /// Without `finish` the trace is thrown away.
  ~TraceWriter() override;

  std::size_t sources() const { return sources_.size(); }

  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override;

  /// Whether writing has failed (a full disk); `finish` throws what happened. Any thread.
  bool failed() const;

  /// Writes what is left and gives the file its final name. Throws WriteError.
  void finish();

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
