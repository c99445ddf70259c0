#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

#include "advice.hpp"
#include "best_model.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/trace_writer.hpp"
#include "dasgd/record/write_all.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"
#include "model_files.hpp"
#include "problem.hpp"
#include "recorded_run.hpp"
#include "report_command.hpp"
#include "run_directory.hpp"
#include "signals.hpp"
#include "summary.hpp"

namespace dasgd::app {
namespace {

// Figures and evaluations in order of virtual time.
std::string metrics_of(const FigureLog& figures, const std::vector<Evaluation>& evaluations) {
  std::string lines;
  auto evaluation = evaluations.begin();
  const auto add_until = [&](double seconds) {
    for (; evaluation != evaluations.end() && evaluation->seconds <= seconds; ++evaluation)
      lines += to_json(*evaluation) + "\n";
  };
  for (const RunFigures& row : figures.rows()) {
    add_until(row.seconds);
    lines += metrics_line(row);
  }
  add_until(std::numeric_limits<double>::infinity());
  return lines;
}

template <typename Real>
int simulate_problem(Config config, const Objective<Real>& objective, const VirtualWorld& world,
                     const SignalStop& signals) {
  const auto advice = settle_step_size(config, objective, signals.token(), &world);
  TrainOptions options = train_options(config);
  options.stop = signals.token();
  const RunDirectory directory(config.out, config.model);
  write_file(directory.file("config.toml"), to_toml(Command::simulate, config));
  if (advice) {
    write_file(directory.file("advice.json"), to_json(*advice));
    if (!config.quiet) fmt::print(stderr, "{}\n", describe(*advice, config));
  }
  std::optional<TraceWriter> trace;
  if (config.trace) options.trace = &trace.emplace(directory.file("trace.jsonl"), 1);

  FigureLog figures;
  options.figures = &figures;

  const auto result = run_simulation<Real>(objective, options, world);
  WriteAll write;
  write("the model", [&] { write_model<Real>(objective, result.model, directory); });
  if (!result.evaluations.empty())
    write("the best model", [&] {
      BestModel(directory.path(), false).write<Real>(*result.summary.best, result.best_model);
    });
  write("summary.json",
        [&] { write_file(directory.file("summary.json"), to_json(result.summary)); });
  write("metrics.jsonl", [&] {
    write_file(directory.file("metrics.jsonl"), metrics_of(figures, result.evaluations));
  });
  if (trace) write("trace.jsonl", [&] { trace->finish(); });
  std::optional<Prediction> prediction;
  if (!config.from.empty()) {
    prediction = compare_with_run(config.from, result.summary);
    write("prediction.json",
          [&] { write_file(directory.file("prediction.json"), to_json(*prediction)); });
  }
  write("the report", [&] { write_run_report(config, directory.path()); });
  if (config.json) {
    std::fputs((prediction ? to_json(*prediction) : to_json(result.summary)).c_str(), stdout);
  } else if (!config.quiet) {
    print_summary("simulated", config, result.summary, directory.path());
    if (prediction) print_prediction(*prediction, config.from);
  }
  write.conclude(result.failure);
  if (!result.summary.audit_is_clean())
    throw std::runtime_error("the audit failed; see summary.json");
  return result.summary.stop_reason == "interrupted" ? interrupted : done;
}

}  // namespace

int simulate_command(const Config& config) {
  const VirtualWorld world = make_world(config.world, *config.workers);
  validate(world, build_graph(config.topology, *config.workers, config.seed));
  const SignalStop signals;
  const Problem problem = make_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return simulate_problem<Real>(config, *objective, world, signals);
      },
      problem);
}

}  // namespace dasgd::app
