// A run while it goes, as the live page sees it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/record/run_summary.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/report/run.hpp"
#include "dasgd/run/figures.hpp"

namespace dasgd::watch {

/// Where a run stands.
struct LiveState {
  std::string state = "running";  ///< or "preparing", "draining", "ended"
  std::optional<double> done, seconds_left;
};

/// Workers hand in what they did; one other thread looks at it now and then. Workers never wait for
/// that thread: it takes what there is in one exchange of pointers.
class LiveRun final : public ApplicationSink {
 public:
  /// `config` is the text of config.toml.
  LiveRun(const std::string& directory, const std::string& config);

  /// Any worker's thread. Beyond `most_pending` lines are counted and left out.
  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override;
  void leave_out(std::uint64_t lines) override;

  // The rest belongs to one thread.
  /// The run has not begun: its step size is chosen. Lines are shown, the last ones of many.
  void prepare(const std::string& line);
  void update(const RunFigures& figures, const LiveState& standing);
  /// The run has ended so.
  void end(const RunSummary& summary);

  /// Everything that the page shows, of bounded size.
  std::string frame() const;
  /// The same figures for Prometheus.
  std::string prometheus() const;

 private:
  static constexpr std::size_t most_pending = 200'000;

  void digest_pending();

  std::mutex mutex_;  // guards the next two
  std::vector<TraceLine> pending_;
  std::uint64_t left_out_ = 0;

  report::Run run_;
  RunFigures figures_;
  LiveState standing_;
  std::vector<TraceLine> taken_;
};

}  // namespace dasgd::watch
