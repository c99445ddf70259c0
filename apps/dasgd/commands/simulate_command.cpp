#include <memory>
#include <optional>
#include <stdexcept>

#include "commands/commands.hpp"
#include "commands/summary.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/write_all.hpp"
#include "dasgd/config/step_size.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/settings/tasks/prediction.hpp"
#include "dasgd/settings/tasks/simulation.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

template <typename Real>
int simulate_problem(Config config, const Objective<Real>& objective, const VirtualWorld& world,
                     const std::optional<elastic::Scenario>& scenario, const SignalStop& signals) {
  const config::OutputSettings& output = config.output;
  const auto advice = settle_step_size(config, objective, signals.token(), &world);
  if (signals.token().stop_requested()) return interrupted;  // an earlier run stays
  TrainOptions options = config.run;
  options.stop = signals.token();
  const RunDirectory directory(output.out, config.problem.model);
  write_file(directory.file("config.toml"), to_toml(config::Command::simulate, config));
  if (advice) {
    write_file(directory.file("advice.json"), to_json(*advice));
    if (!output.quiet) print_note("{}\n", config::with_options(describe(*advice, config)));
  }
  options.warn = [](const std::string& line) {
    print_note("dasgd: {}\n", config::with_options(line));
  };
  const auto result =
      config::simulate_into<Real>(directory, output.trace, objective, options, world, scenario);
  WriteAll write;
  std::optional<config::Prediction> prediction;
  if (!config.from.empty()) {
    prediction = config::compare_with_run(config.from, result.summary);
    write("prediction.json",
          [&] { write_file(directory.file("prediction.json"), to_json(*prediction)); });
  }
  if (!output.no_report)
    write("the report", [&] { report::write_report({directory.path()}, directory.path()); });
  if (output.json) {
    print_result_text(prediction ? to_json(*prediction) : to_json(result.summary));
  } else if (!output.quiet) {
    print_summary("simulated", config, result.summary, directory.path());
    if (prediction) offer_text(to_text(*prediction, config.from));
    print_members(result.summary);
  }
  write.conclude(result.failure);
  if (!result.summary.audit_is_clean())
    throw std::runtime_error("the audit failed; see summary.json");
  return result.summary.stop_reason == StopReason::interrupted ? interrupted : done;
}

}  // namespace

int simulate_command(const Config& config) {
  const TrainOptions& run = config.run;
  const VirtualWorld world = make_world(config, run.workers);
  const auto scenario = make_scenario(config, world);
  if (!scenario) validate(world, graph_of(run));
  const Problem problem = leaving_at_once([&] { return read_problem(config); });
  const SignalStop signals;
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return simulate_problem<Real>(config, *objective, world, scenario, signals);
      },
      problem);
}

}  // namespace dasgd::app
