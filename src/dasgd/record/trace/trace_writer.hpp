// Writes trace.jsonl while workers run, in order of time.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/record/trace/trace_queue.hpp"
#include "dasgd/record/trace/trace_sink.hpp"

namespace dasgd {

/// The line in the contract's form, with its newline.
std::string to_json(const TraceLine& line);

/// Workers hand in what they did, a piece at a time; a thread of the writer merges the pieces
/// (TraceQueue) and writes. So every application stands after the computation of its gradient,
/// unless a worker has kept silent for `most_waiting` lines of others.
///
/// Memory: a line takes sizeof(TraceLine), about 100 bytes; `most_waiting` lines and one piece of
/// every worker are kept at most. When the disk is slower than the run, the run waits for it.
class TraceWriter final : public TraceSink {
 public:
  static constexpr std::size_t most_waiting = std::size_t{1} << 18;  ///< 27 MB

  /// Called once, on any thread, with the reason why the trace cannot be written.
  using Lost = std::function<void(const std::string& why)>;

  /// One source per worker. A trace that cannot be written is removed at once, to make room for
  /// others; where `lost` is called, that is not a failure of the run.
  TraceWriter(const std::string& path, std::size_t workers, Lost lost = {});
  /// Without `finish` the trace is thrown away.
  ~TraceWriter() override;

  std::size_t sources() const override { return queue_.sources(); }
  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override {
    queue_.add(worker, std::move(lines), up_to);
  }
  /// `finish` throws the same.
  std::exception_ptr failure() const override;

  /// Writes what is left. Nothing is added after it.
  void drain();
  /// Drains, writes `last_line` where there is one, and gives the file its final name. Throws
  /// WriteError unless `lost` was called.
  void finish(const std::string& last_line = "");

 private:
  void run();
  void give_up(const std::exception& why);  // which is being handled

  std::optional<AtomicFile> file_;  // used by the thread, and by the caller once that has ended
  TraceQueue queue_;
  const Lost lost_;
  mutable std::mutex mutex_;  // guards the failure
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace dasgd
