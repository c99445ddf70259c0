// The middle of a run, the same for threads, ranks and members: one thread per worker, and the
// caller's, which watches.
#pragma once

#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dasgd/run/conclude.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/runtime/checkpointer.hpp"
#include "dasgd/runtime/evaluator.hpp"
#include "dasgd/runtime/monitor.hpp"
#include "dasgd/runtime/worker_loop.hpp"

namespace dasgd {

template <typename Real>
using Loops = std::vector<std::unique_ptr<WorkerLoop<Real>>>;

/// The part of a run that is in this process. All references must outlive `run_process`.
template <typename Real>
struct Process {
  const Objective<Real>& objective;
  const TrainOptions& options;
  std::size_t first, workers;  ///< those that are here
  std::function<Endpoint&(WorkerId)> endpoint;
  SharedByLoops<Real> shared;
  SnapshotBoard& snapshots;
  Checkpointer::Clock::time_point start;  ///< of the leg
  const std::vector<Callback<Real>>& callbacks;
  /// Called when all workers have ended, while an evaluation may still go on.
  std::function<void(const Worker<Real>& first)> drained = {};
  /// Called after that: completes what this process knows. False: another process concludes.
  std::function<bool(std::vector<WorkerReport>& reports, RunEnd<Real>& end)> end = {};
  RemoteWorkers* remote_workers = nullptr;
};

/// Runs every loop on a thread of its own and `watch` on this one; returns when all have ended.
/// What `watch` throws fails the run, which is still drained.
template <typename Real, typename Watch>
void run_threads(const Loops<Real>& loops, Control& control, Watch&& watch) {
  std::vector<std::jthread> threads;
  try {
    for (const auto& loop : loops) threads.emplace_back([&loop] { loop->run(); });
  } catch (...) {
    control.abandon(std::current_exception());  // first, and without memory: there may be none
    const std::size_t started = threads.size();
    threads.clear();
    throw std::runtime_error(fmt::format(
        "only {} of {} worker threads could be started; use fewer workers", started, loops.size()));
  }
  try {
    watch();
  } catch (...) {
    control.fail(std::current_exception());  // a callback threw: drain, then report
  }
}

/// Trains, evaluates, takes checkpoints and concludes; nothing where another process concludes.
template <typename Real>
std::optional<TrainResult<Real>> run_process(const Process<Real>& p) {
  Control& control = p.shared.control;
  const std::size_t samples = p.objective.samples();
  Loops<Real> loops;
  for (std::size_t i = p.first; i < p.first + p.workers; ++i)
    loops.push_back(std::make_unique<WorkerLoop<Real>>(worker_id(i), p.objective, p.options,
                                                       p.endpoint(worker_id(i)), p.shared));
  const Worker<Real>& first = loops.front()->worker();
  Evaluator<Real> evaluator(p.objective, p.options, p.start, loops.front()->models(), control);
  run_threads(loops, control, [&] {
    const Checkpointer checkpointer(p.options, p.objective.dimension(), samples, p.start,
                                    p.snapshots, [&] { return evaluator.since_best(); });
    Monitor<Real>(p.options, loops, control, p.callbacks, evaluator,
                  planned_gradients(p.options, samples), p.remote_workers)
        .watch();
  });
  if (p.drained) p.drained(first);
  evaluator.stop();
  std::vector<WorkerReport> reports;
  for (const auto& loop : loops) reports.push_back(loop->report());
  const std::chrono::duration<double> passed = Checkpointer::Clock::now() - p.start;
  RunEnd<Real> end{.seconds = passed.count(),
                   .reason = control.reason(),
                   .failure = control.failure(),
                   .good = p.shared.good,
                   .judge = evaluator.judge()};
  if (p.end && !p.end(reports, end)) return std::nullopt;
  const double seconds = end.seconds;
  auto result = conclude<Real>(p.objective, p.options, reports, first, std::move(end));
  if (!result.failure)
    save_last_checkpoint(p.options, p.objective, first, p.snapshots, seconds,
                         evaluator.judge().since_best());
  return result;
}

}  // namespace dasgd
