#include "dasgd/referee/run_one.hpp"

#include <algorithm>

#include "dasgd/referee/course.hpp"
#include "dasgd/referee/real_dasgd.hpp"
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
PlayResult simulate_dasgd(const Objective<Real>& objective, const TrainOptions& options,
                          const VirtualWorld& world, const Observer<Real>& observer) {
  const auto summary = run_simulation(objective, options, world, &observer).summary;
  return {.reason = summary.stop_reason,
          .S_avg = summary.staleness.S_avg,
          .S_max = static_cast<double>(summary.staleness.S_max)};
}

template <typename Real>
PlayResult run_observed(const Objective<Real>& objective, const Contest& contest,
                        const ChosenRival& rival, TrainOptions options, const VirtualWorld& world,
                        const RunRequest& request, const Observer<Real>& observer) {
  const bool real = request.engine == ContestEngine::threads;
  if (rival.kind.name == dasgd_rival) {
    if (const auto relay = relay_of(rival)) options.relay = relay;
    return real ? perform_dasgd(objective, options, world, observer)
                : simulate_dasgd(objective, options, world, observer);
  }
  if (real)
    return perform(objective, rival, options, world, {.preempt = contest.preempt}, &observer);
  const bool measured = request.thorough && options.workers <= most_workers_measured;
  return play(objective, rival, options, world,
              {.preempt = contest.preempt, .measured_S = measured ? contest.measured_S : 0},
              &observer);
}

}  // namespace

template <typename Real>
ContestRun run_one(Examiner<Real>& examiner, const Contest& contest, const ChosenRival& rival,
                   const ContestWorld& world, const RunRequest& request) {
  TrainOptions options = world.options;
  options.eta = request.eta;
  options.seed = request.seed;
  if (request.most && (!options.max_time || options.max_time->count() > *request.most))
    options.max_time = std::chrono::nanoseconds(*request.most);
  Course<Real> course(examiner, contest.goal, options.workers, request.thorough);
  const Observer<Real> observer{request.thorough ? contest.every : 2 * contest.every,
                                [&](const Instant<Real>& instant) { return course.look(instant); }};
  const PlayResult result =
      run_observed(examiner.objective(), contest, rival, options, world.world, request, observer);
  if (result.reason == StopReason::interrupted) throw ContestInterrupted("interrupted");
  ContestRun run = course.conclude();
  run.rival = rival.label;
  run.world = world.name;
  run.seed = request.seed;
  run.eta = request.eta;
  run.S_avg = result.S_avg;
  run.S_max = result.S_max;
  return run;
}

template ContestRun run_one(Examiner<float>&, const Contest&, const ChosenRival&,
                            const ContestWorld&, const RunRequest&);
template ContestRun run_one(Examiner<double>&, const Contest&, const ChosenRival&,
                            const ContestWorld&, const RunRequest&);

}  // namespace dasgd
