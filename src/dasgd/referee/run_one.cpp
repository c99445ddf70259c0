#include "dasgd/referee/run_one.hpp"

#include <algorithm>

#include "dasgd/referee/course.hpp"
#include "dasgd/rivals/all_rivals.hpp"
#include "dasgd/rivals/play.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

// Larger runs are not measured: vectors grow by a number for each gradient.
constexpr std::size_t most_workers_measured = 64;

// dasgd:relay=apply
std::optional<RelayMode> relay_of(const ChosenRival& rival) {
  const auto word = static_cast<std::size_t>(rival.numbers.at("relay"));
  if (word == 0) return std::nullopt;
  return parse_relay(rival.kind.parameters.front().words[word]);
}

template <typename Real>
StopReason run_dasgd(const Objective<Real>& objective, const ChosenRival& rival,
                     TrainOptions options, const VirtualWorld& world,
                     const Observer<Real>& observer, std::optional<double>& S_avg,
                     std::optional<double>& S_max) {
  if (const auto relay = relay_of(rival)) options.relay = relay;
  const auto result = run_simulation(objective, options, world, &observer);
  S_avg = result.summary.staleness.S_avg;
  S_max = static_cast<double>(result.summary.staleness.S_max);
  return result.summary.stop_reason;
}

}  // namespace

template <typename Real>
ContestRun run_one(const Objective<Real>& objective, const Contest& contest,
                   const ChosenRival& rival, const ContestWorld& world, const RunRequest& request) {
  TrainOptions options = world.options;
  options.eta = request.eta;
  options.seed = request.seed;
  if (request.most && (!options.max_time || options.max_time->count() > *request.most))
    options.max_time = std::chrono::nanoseconds(*request.most);
  Course<Real> course(objective, contest.goal, options.workers, request.thorough);
  const Observer<Real> observer{contest.every,
                                [&](const Instant<Real>& instant) { return course.look(instant); }};
  std::optional<double> S_avg, S_max;
  StopReason reason = StopReason::budget;
  if (rival.kind.name == dasgd_rival) {
    reason = run_dasgd(objective, rival, options, world.world, observer, S_avg, S_max);
  } else {
    const bool measured = request.thorough && options.workers <= most_workers_measured;
    const PlayResult result = play(
        objective, rival, options, world.world,
        {.preempt = contest.preempt, .measured_S = measured ? contest.measured_S : 0}, &observer);
    S_avg = result.S_avg;
    S_max = result.S_max;
    reason = result.reason;
  }
  if (reason == StopReason::interrupted) throw ContestInterrupted("interrupted");
  ContestRun run = course.conclude();
  run.rival = rival.label;
  run.world = world.name;
  run.seed = request.seed;
  run.eta = request.eta;
  run.S_avg = S_avg;
  run.S_max = S_max;
  return run;
}

template ContestRun run_one(const Objective<float>&, const Contest&, const ChosenRival&,
                            const ContestWorld&, const RunRequest&);
template ContestRun run_one(const Objective<double>&, const Contest&, const ChosenRival&,
                            const ContestWorld&, const RunRequest&);

}  // namespace dasgd
