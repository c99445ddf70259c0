#include "dasgd/lab/referee/contest/run_one.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/base/units.hpp"
#include "dasgd/lab/referee/contest/course.hpp"
#include "dasgd/lab/referee/contest/real_dasgd.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

// Larger runs are not measured: vectors grow by a number for each gradient.
constexpr std::size_t most_workers_measured = 64;

template <typename Real>
PlayResult simulate_dasgd(const Objective<Real>& objective, const TrainOptions& options,
                          const VirtualWorld& world, const Observer<Real>& observer) {
  const auto summary = run_simulation(objective, options, world, &observer).summary;
  return {.reason = summary.stop_reason,
          .S_avg = summary.staleness.S_avg,
          .S_max = static_cast<double>(summary.staleness.S_max)};
}

template <typename Real>
PlayResult simulate_one(const Objective<Real>& objective, const Contest& contest,
                        const ChosenRival& rival, const TrainOptions& options,
                        const VirtualWorld& world, bool thorough, const Observer<Real>& observer) {
  if (rival.kind.name == dasgd_rival)
    return simulate_dasgd(objective, options_of_dasgd(rival, options), world, observer);
  const bool measured = thorough && options.workers <= most_workers_measured;
  return play(objective, rival, options, world,
              {.preempt = contest.preempt,
               .measured_S = measured ? contest.measured_S : 0,
               .meet = contest.brief,
               .shows_common = contest.goal.of_last_worker},
              &observer);
}

}  // namespace

TrainOptions options_of_dasgd(const ChosenRival& rival, TrainOptions options) {
  options.look_ahead = LookAhead{};
  const auto given = [&](const char* name, auto&& take) {
    if (const auto at = rival.texts.find(name); at != rival.texts.end()) take(at->second);
  };
  given("rule", [&](const auto& v) { options.rule.kind = parse_rule(v); });
  given("momentum", [&](const auto& v) { options.rule.momentum = parse_real(v); });
  given("beta2", [&](const auto& v) { options.rule.beta2 = parse_real(v); });
  given("look_ahead", [&](const auto& v) { options.look_ahead = parse_look_ahead(v); });
  given("message", [&](const auto& v) { options.message = parse_message_format(v); });
  given("topology", [&](const auto& v) {
    options.topology = v;
    options.relay.reset();
  });
  given("relay", [&](const auto& v) { options.relay = parse_relay(v); });
  return options;
}

template <typename Real>
Perform<Real> perform_on_threads(const Objective<Real>& objective, const Contest& contest) {
  return [&objective, &contest](const ChosenRival& rival, const ContestWorld& world,
                                const TrainOptions& options, const Observer<Real>& observer) {
    if (rival.kind.name == dasgd_rival)
      return perform_dasgd<Real>(objective, options_of_dasgd(rival, options), world.world,
                                 &observer, run_training<Real>);
    return perform(objective, rival, options, world.world, {.preempt = contest.preempt}, &observer);
  };
}

template <typename Real>
ContestRun run_one(ModelJudge<Real>& model_judge, const Contest& contest, const ChosenRival& rival,
                   const ContestWorld& world, const RunRequest& request,
                   const Perform<Real>* perform) {
  TrainOptions options = world.options;
  options.eta = request.eta;
  options.seed = request.seed;
  std::optional<Nanoseconds> most = request.most;  // of a crossing; the next looks may confirm it
  if (most && options.max_time && options.max_time->count() <= *most) most.reset();
  if (most && perform) options.max_time = std::chrono::nanoseconds(*std::exchange(most, {}));
  Course<Real> course(model_judge, contest.goal, options.workers, request.thorough,
                      {request.best, contest.tuning.patience});
  // What is still under way when the time is over arrives too late.
  const auto is_late = [&](Nanoseconds time) {
    return !perform && options.max_time && time > options.max_time->count();
  };
  bool ended = false;
  const Observer<Real> observer{request.thorough ? contest.every : 2 * contest.every,
                                [&](const Instant<Real>& instant) {
                                  if (is_late(instant.time)) return false;
                                  ended = ended ||
                                          (most && instant.time > *most && !course.is_confirming());
                                  return ended || course.look(instant);
                                },
                                contest.brief};
  const PlayResult result = perform ? (*perform)(rival, world, options, observer)
                                    : simulate_one(model_judge.objective(), contest, rival, options,
                                                   world.world, request.thorough, observer);
  if (result.reason == StopReason::interrupted) throw ContestInterrupted("interrupted");
  ContestRun run =
      course.conclude(result.reason == StopReason::budget || result.reason == StopReason::samples);
  if (!run.reached && !perform && (ended || result.reason == StopReason::max_time))
    run.time_s = static_cast<double>(ended ? *most : options.max_time->count()) * 1e-9;
  run.rival = rival.label;
  run.world = world.name;
  run.seed = request.seed;
  run.eta = request.eta;
  run.S_avg = result.S_avg;
  run.S_max = result.S_max;
  run.lost_updates = result.overwritten;
  return run;
}

#define DASGD_RUN_ONE(Real)                                                                  \
  template ContestRun run_one(ModelJudge<Real>&, const Contest&, const ChosenRival&,         \
                              const ContestWorld&, const RunRequest&, const Perform<Real>*); \
  template Perform<Real> perform_on_threads(const Objective<Real>&, const Contest&)
DASGD_RUN_ONE(float);
DASGD_RUN_ONE(double);
#undef DASGD_RUN_ONE

}  // namespace dasgd
