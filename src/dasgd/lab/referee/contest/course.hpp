// Looks at the mean model of a run, at its worst worker and at how far workers are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/contest/model_judge.hpp"
#include "dasgd/problems/error_window.hpp"
#include "dasgd/virtual_time/observer.hpp"

namespace dasgd {

/// The best trial so far, against which another one is held.
struct CoursePace {
  const ContestRun* best = nullptr;  ///< null: there is none
  double patience = 2;
};

/// An observer that follows one run to its goal. The goal is reached at a look if it is still
/// reached at all later ones until each worker has made one more gradient, on average, and at the
/// next look at least: a noisy curve that only touches it has not. Beside a pace the run is given
/// up in the second half of that one's time, at the second look in a row at which it has never been
/// as good as that one was `patience` times earlier. Before that, from an eighth of that one's time
/// on, `far_behind` times earlier counts instead.
template <typename Real>
class Course {
 public:
  Course(ModelJudge<Real>& model_judge, const Goal& goal, std::size_t workers, bool thorough,
         const CoursePace& pace = {})
      : examiner_(model_judge), goal_(goal), workers_(workers), thorough_(thorough), pace_(pace) {}

  /// True when there is nothing more to see: the goal is reached, or the loss has run away.
  bool look(const Instant<Real>& instant) {
    take_mean(instant.models);
    const HeldOut held_out = examiner_.evaluate(mean_);
    CurvePoint point{.time_s = static_cast<double>(instant.time) * 1e-9,
                     .gradients = instant.gradients,
                     .bytes = bytes(instant.nodes),
                     .loss_mean = *held_out.loss,
                     .accuracy_mean = held_out.accuracy,
                     .consensus = consensus(instant.models)};
    if (first_) loss_at_start_ = point.loss_mean;
    first_ = false;
    run_.time_s = point.time_s;
    run_.loss_mean = run_.loss_worst = point.loss_mean;
    run_.accuracy_mean = run_.accuracy_worst = point.accuracy_mean;
    run_.consensus = point.consensus;
    run_.bytes_total = point.bytes;
    run_.gradients_wasted = instant.wasted;
    run_.gradients_used = instant.gradients - std::min(instant.gradients, instant.wasted);
    run_.samples = instant.samples;
    account(instant);
    curve_.push_back(point);
    const bool reached = reaches(point);
    const bool lost = is_lost(point, take_distance(point) || reached);
    if (!reached) {
      crossing_.reset();
      confirmed_ = false;
      if (thorough_) keep(instant.models);
      run_.lost = lost;
      return lost || falls_behind(point);
    }
    if (!crossing_) {
      crossing_ = run_;
      made_at_crossing_ = point.gradients;
      if (thorough_) keep(instant.models);
      return false;
    }
    confirmed_ = true;
    if (point.gradients - made_at_crossing_ < workers_) return false;
    take_crossing();
    return true;
  }

  /// The goal was reached at the last look, and it is not known yet whether it stays reached.
  bool is_confirming() const { return crossing_.has_value(); }

  /// When the run is over; evaluates every worker of the look at which it was decided. `complete`:
  /// no worker would make another gradient, so that the looks there were have to do.
  ContestRun conclude(bool complete = false) {
    if (complete && confirmed_) take_crossing();
    run_.curve = std::move(curve_);
    for (const auto& model : last_models_) {
      const HeldOut held_out = examiner_.evaluate(model);
      run_.loss_worst = std::max(run_.loss_worst, *held_out.loss);
      if (held_out.accuracy)
        run_.accuracy_worst = std::min(run_.accuracy_worst.value_or(1), *held_out.accuracy);
    }
    return std::move(run_);
  }

 private:
  using Models = std::span<const std::span<const Real>>;

  void take_crossing() {
    run_ = *std::exchange(crossing_, std::nullopt);
    run_.reached = true;
    confirmed_ = false;
  }

  void take_mean(Models models) {
    if (goal_.of_last_worker) models = models.last(1);
    const auto is_first = [&](const auto& model) {
      return std::equal(model.begin(), model.end(), models[0].begin());
    };
    if (std::all_of(models.begin(), models.end(), is_first)) {  // to the bit
      mean_.assign(models[0].begin(), models[0].end());
      return;
    }
    sums_.assign(models[0].size(), 0);
    for (const auto& model : models)
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(model[i]);
    mean_.resize(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      mean_[i] = static_cast<Real>(sums_[i] / static_cast<double>(models.size()));
  }
  // Whether it is nearer to the goal than at any look before.
  bool take_distance(const CurvePoint& point) {
    const double distance = distance_to(goal_, point);
    least_loss_ = std::min(least_loss_, point.loss_mean);
    if (!(distance < least_distance_)) return false;
    least_distance_ = distance;
    return true;
  }
  // Far away at once, or for a while with a loss above that at the start and no nearer to the goal:
  // of looks, and of gradients per worker, since runs that count are looked at more often.
  bool is_lost(const CurvePoint& point, bool gains) {
    const double loss = point.loss_mean, start = std::abs(loss_at_start_);
    if (gains || loss <= loss_at_start_) {
      looks_without_gain_ = 0;
      made_at_gain_ = point.gradients;
    } else {
      ++looks_without_gain_;
    }
    const auto after = [&](std::size_t looks) {
      return looks_without_gain_ >= looks &&
             point.gradients - made_at_gain_ >= gradients_per_look * looks * workers_;
    };
    return !std::isfinite(loss) || loss > 100 * (start + 1) || (after(11) && loss > 2 * start) ||
           after(20);
  }
  static constexpr std::size_t gradients_per_look = 4;  // of each worker, as in trials by default
  static constexpr double far_behind = 4;
  bool falls_behind(const CurvePoint& point) {
    if (!pace_.best) return false;
    if (point.time_s < pace_.best->time_s / 8) return false;
    const bool is_late = point.time_s >= pace_.best->time_s / 2;
    const double patience = is_late ? pace_.patience : std::max(far_behind, pace_.patience);
    const auto& curve = pace_.best->curve;
    const auto later =
        std::upper_bound(curve.begin(), curve.end(), point.time_s / patience,
                         [](double time, const CurvePoint& other) { return time < other.time_s; });
    // Beside one that did not get there a slow one may have the better end.
    const bool behind = later != curve.begin() && least_distance_ > distance_to(goal_, later[-1]) &&
                        (pace_.best->reached || least_loss_ > later[-1].loss_mean);
    looks_behind_ = behind ? looks_behind_ + 1 : 0;
    return looks_behind_ >= 2;
  }
  void keep(Models models) {
    last_models_.resize(models.size());
    for (std::size_t i = 0; i < models.size(); ++i)
      last_models_[i].assign(models[i].begin(), models[i].end());
  }
  // Root mean square of the distances to the mean.
  double consensus(Models models) const {
    double sum = 0;
    for (const auto& model : models)
      for (std::size_t i = 0; i < model.size(); ++i) {
        const double distance = static_cast<double>(model[i]) - static_cast<double>(mean_[i]);
        sum += distance * distance;
      }
    return std::sqrt(sum / static_cast<double>(models.size()));
  }
  static std::uint64_t bytes(std::span<const NodeUse> nodes) {
    std::uint64_t sum = 0;
    for (const NodeUse& node : nodes) sum += node.sent;
    return sum;
  }
  void account(const Instant<Real>& instant) {
    run_.messages = 0;
    run_.bytes_busiest_node = 0;
    double busy = 0;
    for (std::size_t i = 0; i < instant.nodes.size(); ++i) {
      const NodeUse& node = instant.nodes[i];
      run_.messages += node.messages;
      run_.bytes_busiest_node = std::max(run_.bytes_busiest_node, node.sent + node.received);
      run_.memory_models =
          std::max(run_.memory_models,
                   static_cast<double>(node.kept) /
                       static_cast<double>(std::max<std::size_t>(1, mean_.size() * sizeof(Real))));
      if (i < workers_) busy += static_cast<double>(std::min(node.busy, instant.time));
    }
    const double all = static_cast<double>(instant.time) * static_cast<double>(workers_);
    run_.idle_share = all > 0 ? 1 - busy / all : 0;
  }
  bool reaches(const CurvePoint& point) {
    switch (goal_.kind) {
      case Goal::Kind::loss:
        return point.loss_mean <= goal_.value;
      case Goal::Kind::accuracy:
        return point.accuracy_mean.value_or(0) >= goal_.value;
      case Goal::Kind::error:
        break;
    }
    gradient_.resize(mean_.size());
    examiner_.objective().full_gradient(mean_, gradient_);
    return l2_norm<Real>(gradient_) <= goal_.value;
  }

  ModelJudge<Real>& examiner_;
  const Goal goal_;
  const std::size_t workers_;
  const bool thorough_;
  const CoursePace pace_;
  ContestRun run_;
  std::optional<ContestRun> crossing_;  // as it was at the first of the last looks that reach it
  bool confirmed_ = false;              // by the look after that
  std::vector<CurvePoint> curve_;
  bool first_ = true;
  std::size_t looks_without_gain_ = 0, looks_behind_ = 0;
  std::uint64_t made_at_crossing_ = 0, made_at_gain_ = 0;  // gradients
  double least_distance_ = std::numeric_limits<double>::infinity(), least_loss_ = least_distance_;
  double loss_at_start_ = 0;
  std::vector<double> sums_;
  std::vector<Real> mean_, gradient_;
  std::vector<std::vector<Real>> last_models_;
};

}  // namespace dasgd
