#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/earlier_run.hpp"
#include "dasgd/advice/pilot.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/lab/planner/plan_text.hpp"
#include "dasgd/lab/planner/stand_in.hpp"
#include "dasgd/settings/settings.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

constexpr const char* as_measured = "measured";
constexpr double goal_share = 0.01;     // of the first loss of the stand-in
constexpr double most_of_a_loss = 1e6;  // numbers x samples, of a problem that is simulated itself
constexpr double assumed_gradient_s = 1;

/// What an earlier run measured of its machines.
struct MeasuredRun {
  double gradient_s = 0, card = 0;
};

MeasuredRun measured_by(const std::string& directory) {
  return from_summary(directory, [&](const nlohmann::json& json, double seconds) {
    MeasuredRun run{.gradient_s = json.at("workers").get<double>() * seconds /
                                  json.at("gradients").get<double>()};
    for (const auto& bytes : json.value("bytes_sent", nlohmann::json::array()))
      run.card = std::max(run.card, bytes.get<double>() / seconds);
    if (!std::isfinite(run.gradient_s))
      throw InputError(directory + "/summary.json: the run made no gradients");
    return run;
  });
}

/// The case, and for each of its figures where it comes from.
struct Inputs {
  NetworkCase network;
  std::string model, card_from, latency_from, gradient_from;
};

Inputs inputs_of(const AdviseRequest& request) {
  Inputs inputs;
  NetworkCase& network = inputs.network;
  network.workers = request.config.run.workers;
  if (network.workers < 2) throw InputError("`workers` 1: one worker needs no network");
  const auto& world = request.config.world;
  if (!world.latency.model.is_constant() || !world.latency.of_link.empty())
    throw InputError("`pace.latency` " + world.latency.text +
                     ": a plan needs one time for all links");
  network.latency = world.latency.model.smallest();
  inputs.latency_from = request.latency_given ? "given" : "assumed";
  if (request.network != as_measured) {
    network.card = parse_rate(request.network);
    inputs.card_from = "given";
  }
  network.compute = world.compute.model;
  inputs.gradient_from = "given";
  if (request.from.empty()) return inputs;
  const MeasuredRun run = measured_by(request.from);
  if (!request.compute_given) {
    network.compute = TimeModel::constant(static_cast<Nanoseconds>(run.gradient_s * 1e9));
    inputs.gradient_from = "measured by " + request.from + ", with what its workers waited";
  }
  if (request.network == as_measured) {
    if (!(run.card > 0))
      throw InputError("--network measured: " + request.from + " sent nothing; give a rate");
    network.card = run.card;
    inputs.card_from =
        "measured by " + request.from + ": what its busiest worker sent; a card can do more";
  }
  return inputs;
}

/// What is simulated, and in which words.
struct Simulated {
  Goal goal;
  std::string with;
};

template <typename Real>
bool is_small(const Objective<Real>& objective) {
  return static_cast<double>(objective.dimension()) * static_cast<double>(objective.samples()) <=
         most_of_a_loss;
}

template <typename Real>
Simulated simulated_itself(const Objective<Real>& objective, const AdviseRequest& request) {
  const TrainOptions& run = request.config.run;
  if (run.target_error) return {{Goal::Kind::error, *run.target_error}, "the problem itself"};
  if (run.target_loss) return {{Goal::Kind::loss, *run.target_loss}, "the problem itself"};
  const double start = objective.loss(objective.start()),
               least = objective.known().least_loss.value_or(0);
  return {{Goal::Kind::loss, least + (start - least) / 4},
          "the problem itself; goal: a loss a quarter of the way above the least"};
}

Simulated simulated_by(const StandIn& stand_in) {
  return {{Goal::Kind::loss, goal_share * stand_in.loss(stand_in.start())},
          fmt::format("a stand-in, a noisy quadratic of {} numbers: messages and gradients take as "
                      "long as the model's; goal: {:g} % of the first loss",
                      stand_in.dimension(), 100 * goal_share)};
}

std::string flags_of(const Exchange& exchange) {
  return fmt::format("--relay {} --message {} --look-ahead {}", exchange.relay, exchange.message,
                     exchange.look_ahead);
}

void show_progress(std::size_t done, std::size_t total, const std::string& name) {
  if (isatty(STDERR_FILENO) != 1) return;
  if (done < total)
    print_note("\r\033[K{} of {} settings: {}", done, total, name);
  else
    print_note("\r\033[K");
}

void print(const Inputs& inputs, const Simulated& simulated, const Plan& plan) {
  const NetworkCase& network = inputs.network;
  print_result("{} workers, {} numbers each ({})\n", network.workers,
               show_count(static_cast<std::uint64_t>(network.numbers)), inputs.model);
  print_result("  cards          {}: {}\n", show_rate(*network.card), inputs.card_from);
  print_result("  latency        {}: {}\n",
               show_duration(std::chrono::nanoseconds(network.latency)), inputs.latency_from);
  print_result("  gradient       {:.4g} s: {}\n", network.seconds_per_gradient(),
               inputs.gradient_from);
  print_result("  simulated with {}\n\n", simulated.with);
  print_result_text(table_of(plan));
  print_result("\n{}", recommendation_of(plan, flags_of));
}

template <typename Real>
int plan_with(const Objective<Real>& objective, const Inputs& inputs, const Simulated& simulated,
              const AdviseRequest& request, const SignalStop& signals) {
  NetworkEffort effort = effort_of_a_plan(inputs.network.workers);
  effort.stop = signals.token();
  effort.time_is_up = [clock = clock_from_now(), &request] {
    return clock() > static_cast<double>(request.plan_time.count()) * 1e-9;
  };
  try {
    const Plan plan =
        plan_network(objective, inputs.network, simulated.goal, effort, show_progress);
    if (request.config.output.json)
      print_result_text(to_json(plan, inputs.network, simulated.with, flags_of));
    else
      print(inputs, simulated, plan);
    return done;
  } catch (const ContestInterrupted&) {
    show_progress(0, 0, "");
    return interrupted;
  }
}

// A model that is not here.
int plan_of_parameters(const AdviseRequest& request) {
  Inputs inputs = inputs_of(request);
  inputs.network.numbers = *request.parameters;
  inputs.model = "given";
  if (!request.compute_given && request.from.empty()) {
    inputs.network.compute =
        TimeModel::constant(static_cast<Nanoseconds>(assumed_gradient_s * 1e9));
    inputs.gradient_from = "assumed; give --compute";
  }
  const StandIn stand_in;
  const SignalStop signals;
  return plan_with(stand_in, inputs, simulated_by(stand_in), request, signals);
}

template <typename Real>
int plan_of(const Objective<Real>& objective, const AdviseRequest& request) {
  Inputs inputs = inputs_of(request);
  NetworkCase& network = inputs.network;
  network.numbers = static_cast<double>(objective.dimension());
  network.number_bytes = sizeof(Real);
  inputs.model = request.config.problem.model;
  const std::size_t batch = resolved_batch(request.config.run, objective.samples());
  const SignalStop signals;
  if (!request.compute_given && request.from.empty()) {
    const double seconds = time_of_gradient(objective, batch);
    network.compute = TimeModel::constant(std::max<Nanoseconds>(1, std::llround(seconds * 1e9)));
    inputs.gradient_from = "measured here; give --compute for other machines";
  }
  if (is_small(objective)) {
    network.batch = batch;
    return plan_with(objective, inputs, simulated_itself(objective, request), request, signals);
  }
  const StandIn stand_in;
  return plan_with(stand_in, inputs, simulated_by(stand_in), request, signals);
}

}  // namespace

int plan_command(const AdviseRequest& request) {
  if (request.network == as_measured && request.from.empty())
    throw InputError("--network measured: needs --from RUN_DIR");
  try {
    if (request.network != as_measured) parse_rate(request.network);
  } catch (const InputError& error) {
    throw InputError(std::string("--network: ") + error.what());
  }
  if (request.parameters) return plan_of_parameters(request);
  const Problem problem = leaving_at_once([&] { return read_problem(request.config); });
  return std::visit([&](const auto& objective) { return plan_of(*objective, request); }, problem);
}

}  // namespace dasgd::app
