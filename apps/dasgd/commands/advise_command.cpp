#include <cmath>
#include <fmt/format.h>
#include <thread>

#include "commands/commands.hpp"
#include "commands/earlier_run.hpp"
#include "commands/summary.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/config/step_size.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

struct EarlierRun {
  PilotStaleness staleness;
  bool simulated;
};

/// What the summary of a run says of it. Throws InputError.
EarlierRun earlier_run(const std::string& directory) {
  return from_summary(directory, [&](const nlohmann::json& json, double seconds) {
    StalenessSummary s;
    s.S_avg = json.at("S_avg");
    s.S_max = json.at("S_max");
    s.S_hat_known = !json.at("S_hat_avg").is_null();
    if (s.S_hat_known) s.S_hat_avg = json.at("S_hat_avg");
    if (s.S_hat_known) s.S_hat_max = json.at("S_hat_max");
    s.S_mean_square = json.at("S_mean_square");
    s.W.reset();
    if (!json.at("W").is_null()) s.W = json.at("W");
    return EarlierRun{
        {s, json.at("gradients").get<double>() / seconds, "measured: by the run in " + directory,
         json.value("noncausal_applications", std::uint64_t{0})},
        json.contains("virtual_seconds")};
  });
}

std::string interval(const Estimate& e) { return fmt::format("{:.4g} .. {:.4g}", e.low, e.high); }

void print(const Promise& p, double accuracy) {
  if (!std::isfinite(p.iterations)) {
    print_result("  not promised by {}: a mean squared gradient of {:.4g} is out of reach\n",
                 p.name, accuracy);
    return;
  }
  print_result(
      "  promised by {}: mean squared gradient at most {:.4g} after {:.4g} iterations "
      "({:.4g} s) with eta {:.4g}, {}\n",
      p.name, accuracy, p.iterations, p.seconds, p.eta, p.grounds);
}

const char* what_is_proved(const Advice& advice) {
  const bool W = advice.staleness.figures.W.has_value();
  if (advice.recommended_status == "heuristic")
    return "proved under conditions that this run does not meet";
  if (advice.recommended_status == "proved for independent draws")
    return "proved for independent draws, its default, if the run is like the pilot";
  return W ? "the step of the certificate for at least twice the W of the pilot"
           : "the a priori step for twice the S_max of the pilot";
}

// The best step of the trials, or a lower one.
std::string of_trials(const PracticalStep& step) {
  return fmt::format("{}the best of some short trials, for --schedule {}; not proved",
                     part_of_best(step.share), to_string(step.schedule));
}

// What to do, before why.
void print_steps(const Advice& advice) {
  const StalenessSummary& s = advice.staleness.figures;
  const bool tried = !advice.practical.tried.empty();
  print_result("  {}; staleness S: {:.3g} on average, {} at most\n",
               counted(advice.workers, "worker"), s.S_avg, s.S_max);
  print_result("  to train well  --lr auto    {:<12.6g}{}\n", advice.practical.eta,
               tried          ? of_trials(advice.practical)
               : advice.plain ? "no trial was possible: the step of --lr proved"
                              : "no trial was possible: a guess from the theory of plain SGD");
  if (!advice.plain)
    return print_result(
        "  to be safe     there are proofs only for plain SGD with a fixed step\n\n");
  print_result("  to be safe     --lr proved  {:<12.6g}{}\n\n", advice.recommended_eta,
               what_is_proved(advice));
}

void print(const Advice& advice) {
  print_steps(advice);
  const ProblemConstants& c = advice.constants;
  print_result("  {:<10}{:>12}  {:<24}{}\n", "constant", "value", "interval", "how");
  const auto constant = [](const char* name, const Estimate& e) {
    print_result("  {:<10}{:>12.6g}  {:<24}{}\n", name, e.value, interval(e), e.how);
  };
  constant("L", c.L);
  constant("sigma^2", c.sigma2);
  constant("Q", c.Q);
  constant("r0", c.r0);
  const StalenessSummary& s = advice.staleness.figures;
  print_result("\n  staleness  S_avg {:.3f}, S_max {}, {}, W {}\n", s.S_avg, s.S_max,
               describe_S_hat(s), s.W ? std::to_string(*s.W) : "not kept");
  print_result("             {}\n", advice.staleness.how);
  print_result("\n  {:<24}{:>12}  {:<32}{}\n", "limit", "eta", "status", "grounds");
  for (const StepSizeLimit& limit : advice.limits)
    print_result("  {:<24}{:>12.6g}  {:<32}{}\n", limit.name, limit.eta, limit.status,
                 limit.grounds);
  print_result("\n  recommended eta {:.6g}: {}\n", advice.recommended_eta,
               config::with_options(advice.grounds));
  print_result("  practical eta   {:.6g}: {}\n", advice.practical.eta, advice.practical.how);
  for (const Promise& p : advice.promises) print(p, advice.accuracy);
}

AdviceRequest to_request(const AdviseRequest& request, const SignalStop& signals) {
  AdviceRequest result{.options = request.config.run};
  result.options.stop = signals.token();
  result.least_loss = request.least_loss;
  result.accuracy = request.accuracy;
  result.keep_schedule = request.config.schedule_given;
  result.options.compute = {};
  const bool fits = request.config.run.workers <= std::max(1u, std::thread::hardware_concurrency());
  bool simulated = false;
  if (!request.from.empty()) {
    const EarlierRun run = earlier_run(request.from);
    result.staleness = run.staleness;
    simulated = run.simulated;
  }
  result.elastic = config::is_elastic(request.config);
  const bool same_world = simulated && request.config_of_run && !result.elastic;
  if (request.world_given || same_world || (request.from.empty() && !fits)) {
    result.world = make_world(request.config, request.config.run.workers);
    result.compute_is_given = request.compute_given || same_world;
  }
  return result;
}

}  // namespace

int advise_command(const AdviseRequest& request) {
  const Problem problem = leaving_at_once([&] { return read_problem(request.config); });
  const SignalStop signals;
  const AdviceRequest advice_request = to_request(request, signals);
  const Advice advice = std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return advise<Real>(*objective, advice_request);
      },
      problem);
  if (signals.token().stop_requested()) return interrupted;
  if (request.config.output.json) {
    print_result_text(to_json(advice));
  } else {
    print(advice);
  }
  return done;
}

}  // namespace dasgd::app
