// Evaluation during a run: the best model so far, and when to stop looking for a better one.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd {

/// Judges one model after the other; threads and the simulator share it. Owned by one thread.
template <typename Real>
class Judge {
 public:
  /// What earlier legs found goes on.
  Judge(const Objective<Real>& objective, const TrainOptions& options)
      : objective_(objective),
        options_(options.evaluation),
        best_(options.evaluation.best),
        since_best_(options.resume ? options.resume->evaluations_since_best : 0) {}

  /// Evaluates x; true if it is the best so far.
  bool evaluate(std::span<const Real> x, double seconds) {
    const HeldOut found = objective_.evaluate(x);
    return note({seconds, found.accuracy, found.loss}, x);
  }
  /// The same with an evaluation that somebody else has made.
  bool note(const Evaluation& evaluation, std::span<const Real> x) {
    evaluations_.push_back(evaluation);
    ++since_best_;
    if (best_ && !evaluation.better_than(*best_)) return false;
    best_ = evaluation;
    best_model_.assign(x.begin(), x.end());
    since_best_ = 0;
    return true;
  }

  /// Why the run may stop after the last evaluation; nothing if it may not.
  std::optional<StopReason> verdict() const {
    if (options_.target_accuracy && best_ &&
        best_->accuracy.value_or(0) >= *options_.target_accuracy)
      return StopReason::target_accuracy;
    if (options_.target_loss && !evaluations_.empty() &&
        evaluations_.back().loss.value_or(HUGE_VAL) <= *options_.target_loss)
      return StopReason::target_eval_loss;
    if (options_.patience && since_best_ >= *options_.patience) return StopReason::patience;
    return std::nullopt;
  }

  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  const std::optional<Evaluation>& best() const { return best_; }
  /// Empty while the best is that of an earlier leg.
  const std::vector<Real>& best_model() const { return best_model_; }
  std::uint32_t since_best() const { return since_best_; }

  /// The final model takes part; then the result has it all, and this one only counts.
  void conclude(TrainResult<Real>& result) {
    const RunSummary& s = result.summary;
    const double seconds = s.virtual_seconds.value_or(s.wall_seconds);
    note({seconds, s.accuracy, s.eval_loss}, result.model);
    result.evaluations = std::move(evaluations_);
    result.best_model = std::move(best_model_);
    result.summary.best = best_;
  }

 private:
  const Objective<Real>& objective_;
  const EvaluationOptions options_;
  std::vector<Evaluation> evaluations_;
  std::optional<Evaluation> best_;
  std::vector<Real> best_model_;
  std::uint32_t since_best_;
};

}  // namespace dasgd
