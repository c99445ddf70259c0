#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <stdexcept>

#include "commands.hpp"
#include "config_file.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/npy.hpp"
#include "dasgd/record/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/topology/builders.hpp"
#include "problem.hpp"
#include "run_directory.hpp"
#include "signals.hpp"
#include "summary.hpp"

namespace dasgd::app {
namespace {

template <typename Real>
int simulate_problem(const Config& config, const Objective<Real>& objective,
                     const VirtualWorld& world, const SignalStop& signals) {
  TrainOptions options = train_options(config);
  options.stop = signals.token();
  const RunDirectory directory(config.out, config.model);
  write_file(directory.file("config.toml"), to_toml(Command::simulate, config));
  std::optional<TraceWriter> trace;
  if (config.trace) options.trace = &trace.emplace(directory.file("trace.jsonl"), 1);

  const auto result = run_simulation<Real>(objective, options, world);
  write_file(directory.file("model.npy"), to_npy<Real>(result.model));
  write_file(directory.file("summary.json"), to_json(result.summary));
  if (trace) trace->finish();
  if (config.json) {
    std::fputs(to_json(result.summary).c_str(), stdout);
  } else if (!config.quiet) {
    print_summary("simulated", config, result.summary, directory.path());
  }
  if (result.failure) std::rethrow_exception(result.failure);
  if (!result.summary.audit_is_clean())
    throw std::runtime_error("the audit failed; see summary.json");
  return result.summary.stop_reason == "interrupted" ? interrupted : done;
}

}  // namespace

int simulate_command(const Config& config) {
  const VirtualWorld world = make_world(config.world);
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
