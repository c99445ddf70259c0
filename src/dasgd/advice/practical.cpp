#include "dasgd/advice/practical.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <thread>

#include "dasgd/advice/pilot.hpp"
#include "dasgd/advice/subset_objective.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

constexpr std::size_t most_workers = 64;
constexpr double longer_than_expected = 1.25;  // a trial may take
// Of the run to come, and how many seconds that is at least and at most.
constexpr double share_to_spend = 0.1, least_seconds = 4, most_seconds = 60;
constexpr std::uint64_t most_gradients = 4000;
// Of a trial on the coarse grid, of another, and for each worker: fewer do not separate the steps.
constexpr std::uint64_t fewest_coarse = 24, fewest = 48, rounds_coarse = 4, rounds = 8;
constexpr double coarse = 4, fine = 2;  // neighbours on the grid
constexpr int smallest = -5, largest = 2;
constexpr int further = 2;  // steps beyond the last one while that is the best
// The best step of a short run may be close to where runs become unstable, and a real run is longer
// and staler than its trial. Where gradients have noise, a step shows in the trial that it is too
// large long before that. What is proved needs no such margin.
constexpr double share_of_best = 0.5, share_of_best_in_noise = 0.7;
// Losses are taken for the same that differ by less than this share of themselves, and by less than
// this share of what the best step has gained: at its beginning a network hardly gains anything.
constexpr double same_loss = 0.04, same_gain = 0.05;
// Where the best coarse trial has gained less than this share of the loss, fine ones are longer,
// and all of them together may take up to half as long as the run.
constexpr double little_gain = 0.1;
constexpr double longer = 4;

Schedule schedule_for(const TrainOptions& options, std::size_t samples, bool has_end) {
  Schedule schedule = options.rule.schedule;
  const bool cools = has_end && gradients_have_noise(options, samples);
  if (schedule.kind == Schedule::Kind::constant && cools) schedule.kind = Schedule::Kind::cooldown;
  return schedule;
}

// Over a trial as over the whole run, of which it is so large a share, where that is known. A trial
// has no time for warming up.
Schedule in_short(const Schedule& schedule, std::optional<double> of_the_run) {
  if (schedule.kind == Schedule::Kind::step || (schedule.total && !of_the_run)) return {};
  Schedule result = schedule;
  result.warmup = 0;
  if (result.total) *result.total *= *of_the_run;
  return result;
}

/// Tries one step after the other on the same problem in the same world.
template <typename Real>
class Trials {
 public:
  Trials(const Objective<Real>& objective, const TrainOptions& options, const Schedule& schedule,
         std::optional<double> horizon, const VirtualWorld& world, std::size_t judged_by,
         double gradient_seconds, const TrialLimits& limits)
      : limits_(limits),
        per_gradient_(gradient_seconds),
        objective_(objective, options.seed, judged_by),
        start_(objective_.loss(objective.start())),
        options_(options),
        schedule_(schedule),
        horizon_(horizon),
        world_(world) {}

  /// The best of these steps by the loss after so many gradients; nothing if none came below the
  /// loss at the start. Of steps that are as good as the best the smallest: noise shows late.
  std::optional<double> best_of(const std::vector<double>& etas, std::uint64_t gradients) {
    return best_of(run_all(etas, gradients));
  }
  /// The same, and larger steps for as long as the largest is the best.
  std::optional<double> best_of_rising(const std::vector<double>& etas, std::uint64_t gradients) {
    std::vector<TriedStep> now = run_all(etas, gradients);
    for (int k = 0; k < further && !now.empty() && best_of(now) == now.back().eta; ++k) {
      const auto next = run_all({now.back().eta * fine}, gradients);
      if (next.empty()) break;
      now.push_back(next.front());
    }
    return best_of(now);
  }

  /// Whether no step so far has come much below the loss at the start.
  bool gained_little() const {
    return std::ranges::none_of(tried, [&](const TriedStep& t) {
      return t.loss.value_or(start_) < (1 - little_gain) * start_;
    });
  }

  std::vector<TriedStep> tried;

 private:
  std::vector<TriedStep> run_all(const std::vector<double>& etas, std::uint64_t gradients) {
    std::vector<double> order = etas;  // from the middle of the grid, as the best is likely there
    const double middle = etas[etas.size() * 5 / 8];
    std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
      return std::abs(std::log(a / middle)) < std::abs(std::log(b / middle));
    });
    std::vector<TriedStep> now;
    for (const double eta : order) {
      const double begin = seconds();
      const double expected = per_gradient_ * static_cast<double>(gradients);
      if (begin + longer_than_expected * expected > limits_.seconds) break;
      if (options_.stop.stop_requested()) break;
      now.push_back(run(eta, gradients));
      per_gradient_ = (seconds() - begin) / static_cast<double>(gradients);
      tried.push_back(now.back());
      if (limits_.report)
        limits_.report(
            fmt::format("lr auto tries {:.4g}: {} after {} gradients", eta,
                        now.back().loss ? fmt::format("loss {:.4g}", *now.back().loss) : "diverges",
                        now.back().gradients));
    }
    std::sort(now.begin(), now.end(), [](auto& a, auto& b) { return a.eta < b.eta; });
    return now;
  }
  std::optional<double> best_of(const std::vector<TriedStep>& now) const {
    double least = start_;
    for (const TriedStep& t : now) least = std::min(least, t.loss.value_or(start_));
    const double as_good =
        least + std::min(same_loss * std::abs(least), same_gain * (start_ - least));
    for (const TriedStep& t : now)
      if (t.loss && *t.loss < start_ && *t.loss <= as_good) return t.eta;
    return std::nullopt;
  }
  TriedStep run(double eta, std::uint64_t gradients) {
    TrainOptions options = bare_run(options_, eta);
    options.rule = options_.rule;
    options.look_ahead = options_.look_ahead;
    const auto made = static_cast<double>(gradients);
    options.rule.schedule =
        in_short(schedule_, horizon_ ? std::optional(made / *horizon_) : std::nullopt);
    options.stop = options_.stop;
    if (options_.gradients.empty())
      options.total_gradients = gradients;  // slow workers make fewer of them
    else
      options.gradients = {
          static_cast<std::uint32_t>((gradients + options.workers - 1) / options.workers)};
    const auto result = run_simulation<Real>(objective_, options, world_);
    const bool good = !result.failure && std::isfinite(result.summary.loss);
    return {eta, result.summary.gradients,
            good ? std::optional(result.summary.loss) : std::nullopt};
  }

  double seconds() const { return limits_.clock() - began_; }

  const TrialLimits& limits_;
  const double began_ = limits_.clock();
  double per_gradient_;  // seconds, with its share of judging the trial
  const SubsetObjective<Real> objective_;
  const double start_;
  const TrainOptions& options_;
  const Schedule schedule_;
  const std::optional<double> horizon_;
  const VirtualWorld& world_;
};

// Threads of this machine: equally fast, but out of step. Where they are more than cores, each
// computes for a while and then waits for its turn: most gradients that are short against that are
// fresh, and a few are very stale.
VirtualWorld threads_here(std::size_t workers, Nanoseconds gradient) {
  constexpr Nanoseconds turn = 3'000'000;  // of Linux, for a few threads per core
  const double per_core = static_cast<double>(workers) /
                          static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
  const auto wait =
      static_cast<Nanoseconds>(static_cast<double>(turn) * std::max(0.0, per_core - 1));
  const auto in_turn = static_cast<std::uint64_t>(std::max<Nanoseconds>(1, turn / gradient));
  const auto draw = [=](std::size_t worker, std::uint64_t index, Random& random) {
    const auto time =
        static_cast<Nanoseconds>(static_cast<double>(gradient) * std::exp(0.1 * random.normal()));
    const bool ends = (index + worker * in_turn / workers) % in_turn == 0;
    return time + (ends ? wait : 0);
  };
  return {
      .compute = TimeModel::custom(draw), .latency = TimeModel::constant(10'000), .apply = 1'000};
}

}  // namespace

double seconds_for_trials(double run_seconds) { return std::max(10.0, 0.1 * run_seconds); }

std::string part_of_best(double share, std::optional<double> best) {
  const std::string part = fmt::format("{:.2g}", share);
  if (part == "1") return "";
  return best ? fmt::format("{} of {:.4g}, ", part, *best) : part + " of ";
}

template <typename Real>
std::optional<PracticalStep> try_steps(const Objective<Real>& objective,
                                       const TrainOptions& options,
                                       const std::optional<VirtualWorld>& world, double L,
                                       double proved, std::optional<double> horizon,
                                       bool keep_schedule, const TrialLimits& limits) {
  if (options.workers > most_workers || !(L > 0) || !std::isfinite(L)) return std::nullopt;
  const std::size_t batch = resolved_batch(options, objective.samples());
  const double gradient = limits.gradient_seconds
                              ? *limits.gradient_seconds
                              : time_of_gradient(objective, batch, limits.clock);
  // The coarse grid takes a quarter of a fine run each.
  const double runs = (largest - smallest + 1) / 4.0 + 3;
  const double seconds = std::min(
      limits.seconds,
      std::clamp(share_to_spend * gradient * horizon.value_or(0), least_seconds, most_seconds));
  const auto fit = static_cast<std::uint64_t>(
      std::min(seconds / std::max(1e-9, gradient) / runs, static_cast<double>(most_gradients)));
  const auto wanted = static_cast<double>(std::max({fit, fewest, rounds * options.workers}));
  auto gradients = static_cast<std::uint64_t>(std::min(wanted, horizon.value_or(wanted)));
  const std::uint64_t coarse_gradients =
      std::max({gradients / 4, fewest_coarse, rounds_coarse * options.workers});
  if (coarse_gradients > gradients) return std::nullopt;
  if (static_cast<double>(coarse_gradients) * gradient > limits.seconds) return std::nullopt;
  VirtualWorld here = world.value_or(threads_here(
      options.workers, std::max<Nanoseconds>(1, static_cast<Nanoseconds>(1e9 * gradient))));
  const bool worth_a_core = gradient > 2e-4;  // handing a gradient over takes some time as well
  here.threads = worth_a_core ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  // Judging a step takes about half as long as trying it, or less, and no more than this.
  constexpr double most_for_judging = 0.3;
  const std::size_t rows = batch == 0 ? objective.samples() : batch;
  const double in_time = most_for_judging / std::max(1e-9, gradient) * static_cast<double>(rows);
  const auto judged_by = static_cast<std::size_t>(
      std::min(std::clamp(static_cast<double>(gradients * rows / 2), 256.0, 2048.0),
               std::max(32.0, in_time)));
  const Schedule schedule = keep_schedule
                                ? options.rule.schedule
                                : schedule_for(options, objective.samples(), horizon.has_value());
  Trials<Real> trials(objective, options, schedule, horizon, here, judged_by, gradient, limits);
  std::vector<double> etas;
  for (int k = smallest; k <= largest; ++k) etas.push_back(std::pow(coarse, k) / L);
  const auto near = trials.best_of(etas, coarse_gradients);
  if (!near) return std::nullopt;
  if (trials.gained_little()) {
    const double left = std::min(most_seconds, limits.seconds) -
                        static_cast<double>(coarse_gradients * etas.size()) * gradient;
    const double more = std::max(0.0, left) / std::max(1e-9, gradient) / (3 + further);
    gradients = std::max(
        gradients, static_cast<std::uint64_t>(std::min(
                       {longer * static_cast<double>(gradients), more, horizon.value_or(more)})));
  }
  const double found =
      trials.best_of_rising({*near / fine, *near, *near * fine}, gradients).value_or(*near);
  const bool noise = gradients_have_noise(options, objective.samples());
  const double share = noise ? share_of_best_in_noise : share_of_best;
  const double eta = std::clamp(proved, share * found, found);
  const bool cools = !keep_schedule && schedule.kind == Schedule::Kind::cooldown;
  return PracticalStep{
      eta,
      fmt::format("{}the best of {} short trials of {} gradients in virtual time{}; not proved",
                  part_of_best(eta / found, found), trials.tried.size(), gradients,
                  cools ? fmt::format(", decaying to 0 over the last {:.0f} % of the run",
                                      100 * schedule.share)
                        : ""),
      schedule, std::move(trials.tried), eta / found};
}

template std::optional<PracticalStep> try_steps(const Objective<float>&, const TrainOptions&,
                                                const std::optional<VirtualWorld>&, double, double,
                                                std::optional<double>, bool, const TrialLimits&);
template std::optional<PracticalStep> try_steps(const Objective<double>&, const TrainOptions&,
                                                const std::optional<VirtualWorld>&, double, double,
                                                std::optional<double>, bool, const TrialLimits&);

}  // namespace dasgd
