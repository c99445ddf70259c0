// The figures of a worker at one moment, and of all workers together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dasgd/base/time.hpp"
#include "dasgd/run/figures.hpp"
#include "dasgd/run/run_worker.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// A worker's figures at some recent moment.
struct WorkerFigures {
  std::uint64_t t = 0;
  std::uint32_t computed = 0;
  std::uint64_t samples = 0;
  std::optional<double> loss;
  StalenessStatistics S;
  std::optional<std::uint64_t> W;
  std::optional<LookAheadFigures> look_ahead;
  std::uint64_t folded = 0;
  Nanoseconds waited = 0;
  bool out_of_samples = false;
  bool finished = false;
};

/// Adds workers to the figures of a run, one after the other.
class FiguresOfWorkers {
 public:
  explicit FiguresOfWorkers(RunFigures& all) : all_(all) {}

  /// The number of a worker is its place in the lists of workers.
  void add(std::size_t worker, const WorkerFigures& figures, std::size_t inbox) {
    all_.gradients += figures.computed;
    all_.samples += figures.samples;
    all_.folded += figures.folded;
    all_.S_avg = std::max(all_.S_avg, figures.S.mean());
    all_.S_max = std::max(all_.S_max, figures.S.max);
    all_.inbox_depth = std::max(all_.inbox_depth, inbox);
    place(all_.gradients_by_worker, worker) = figures.computed;
    place(all_.inbox_by_worker, worker) = static_cast<std::uint32_t>(inbox);
    const double waited = static_cast<double>(figures.waited) * 1e-9;
    place(all_.waited_by_worker, worker) = waited;
    all_.waited_seconds += waited;
    all_.add(figures.look_ahead);
    if (!figures.loss) return;
    losses_ += *figures.loss;
    all_.loss = losses_ / ++with_loss_;
  }

 private:
  template <typename List>
  static typename List::value_type& place(List& list, std::size_t worker) {
    list.resize(std::max(list.size(), worker + 1));
    return list[worker];
  }

  RunFigures& all_;
  double losses_ = 0, with_loss_ = 0;
};

/// What was recorded of a worker so far; itself, and what its thread knows, may be ahead.
template <typename Real>
WorkerFigures figures_of(const RunWorker<Real>& run) {
  return {.samples = run.samples_used(),
          .loss = run.recent_loss(),
          .S = run.S(),
          .W = run.W(),
          .look_ahead = run.look_ahead(),
          .folded = run.folded()};
}

}  // namespace dasgd
