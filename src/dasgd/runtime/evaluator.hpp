// The thread that evaluates models while workers run.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/judge.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/runtime/boards/model_board.hpp"
#include "dasgd/runtime/control.hpp"

namespace dasgd {

/// Evaluates copies of one worker's model; no worker ever waits for it. Stops the run when patience
/// is at its end or the accuracy is reached.
template <typename Real>
class Evaluator {
 public:
  using Clock = std::chrono::steady_clock;
  using Model = typename ModelBoard<Real>::Model;

  /// `start` is when the leg began. All references must outlive this.
  Evaluator(const Objective<Real>& objective, const TrainOptions& options, Clock::time_point start,
            ModelBoard<Real>& models, Control& control);

  /// What has been found since the last call.
  struct News {
    std::optional<Evaluation> latest, best;
    Model best_model;
  };
  News take_news();

  std::uint32_t since_best() const { return since_best_.load(); }
  /// Of the objective; any thread.
  std::optional<ArrivalFigures> arrivals() const { return objective_.arrivals(); }

  /// Ends the thread.
  void stop();
  /// Its judge, when the thread has ended.
  Judge<Real>& judge() { return judge_; }

 private:
  void run(std::stop_token stop);
  /// Why the run may stop now; empty if it may not.
  std::optional<StopReason> evaluate(const Model& model);

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const Clock::time_point start_;
  ModelBoard<Real>& models_;
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
