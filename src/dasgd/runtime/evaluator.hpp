// The thread that evaluates models while workers run.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/plan/judge.hpp"
#include "dasgd/plan/options.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/worker_status.hpp"

namespace dasgd {

/// Evaluates copies of one worker's model; no worker ever waits for it. Stops the run when patience
/// is at its end or the accuracy is reached.
template <typename Real>
class Evaluator {
 public:
  using Clock = std::chrono::steady_clock;

  /// `start` is when the leg began. All references must outlive this.
  Evaluator(const Objective<Real>& objective, const TrainOptions& options, Clock::time_point start,
            WorkerStatus<Real>& status, Control& control);

  /// What has been found since the last call.
  struct News {
    std::optional<Evaluation> latest, best;
    std::vector<Real> best_model;
  };
  News take_news();

  std::uint32_t since_best() const { return since_best_.load(); }

  /// Ends the thread.
  void stop();
  /// Its judge, when the thread has ended.
  Judge<Real>& judge() { return judge_; }

 private:
  void run(std::stop_token stop);
  /// Why the run may stop now; empty if it may not.
  std::string evaluate(std::span<const Real> x);

  const TrainOptions& options_;
  const Clock::time_point start_;
  WorkerStatus<Real>& status_;
  Control& control_;
  Judge<Real> judge_;
  std::atomic<std::uint32_t> since_best_;
  std::mutex mutex_;  // guards the news
  std::condition_variable_any pause_;
  News news_;
  std::jthread thread_;
};

extern template class Evaluator<float>;
extern template class Evaluator<double>;

}  // namespace dasgd
