// The thread that watches a run: time limits, progress, stalls.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/run/options.hpp"
#include "dasgd/runtime/boards/model_board.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/evaluator.hpp"
#include "dasgd/runtime/progress.hpp"
#include "dasgd/runtime/worker_loop.hpp"

namespace dasgd {

/// What a monitor shares with those of other processes.
class RemoteWorkers {
 public:
  virtual ~RemoteWorkers() = default;
  /// Reports to the other processes what the workers here do.
  virtual void report(const std::vector<WorkerView>& here) = 0;
  /// The last report about workers of other processes, as far as this process needs it.
  virtual std::vector<WorkerView> views() = 0;
};

/// Watches from the thread that called train(); workers do not know it.
template <typename Real>
class Monitor {
 public:
  using Loops = std::vector<std::unique_ptr<WorkerLoop<Real>>>;

  Monitor(const TrainOptions& options, const Loops& loops, Control& control,
          const std::vector<Callback<Real>>& callbacks, Evaluator<Real>& evaluator,
          std::optional<double> planned, RemoteWorkers* remote_workers = nullptr);

  /// Returns when every worker has finished.
  void watch();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<WorkerView> views();
  Progress<Real> poll();
  std::span<const Real> look_at_model();
  void add_evaluation(Progress<Real>& now);
  Clock::time_point time_limit() const;
  void report();
  void check_stall(std::uint64_t applications);
  void check_step_size(const Progress<Real>& progress);
  /// A short run ends before its first report. Of the workers of this process.
  void check_step_size_at_end();
  bool all_sources_are_dry();
  std::string whom_it_waits_for();

  const TrainOptions& options_;
  const Loops& loops_;
  Control& control_;
  const std::vector<Callback<Real>>& callbacks_;
  Evaluator<Real>& evaluator_;
  const std::optional<double> planned_;  // gradients of all workers in the whole run
  RemoteWorkers* const remote_workers_;
  const Clock::time_point start_ = Clock::now();
  Progress<Real> before_;  // what earlier legs did
  Progress<Real> last_;
  double last_sum_S_ = 0;
  typename ModelBoard<Real>::Model model_;  // which a callback looks at
  typename Evaluator<Real>::News news_;
  std::optional<Evaluation> evaluation_;
  std::uint64_t stalled_at_ = 0;
  Clock::time_point moved_ = Clock::now();
  bool drought_reported_ = false;
  bool warned_of_step_size_ = false;
};

extern template class Monitor<float>;
extern template class Monitor<double>;

}  // namespace dasgd
