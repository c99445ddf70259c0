#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "commands/commands.hpp"
#include "commands/train_run.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/archive/directory_run.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/config/step_size.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/models/description/describe_table.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/watch/page/live_page.hpp"
#include "ranks/rank_launch.hpp"
#include "ranks/rank_start.hpp"
#include "ranks/ranks.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"
#include "terminal/status_line.hpp"

namespace dasgd::app {
namespace {

int train_with(const Config& config, const Problem& problem, SignalStop& signals) {
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return TrainRun<Real>(config, *objective, signals)
            .run([&](const TrainOptions& options, const auto& callbacks) {
              return run_training<Real>(*objective, options, callbacks);
            });
      },
      problem);
}

int train_on_threads(Config config) {
  if (is_stream(config.problem.data)) {
    SignalStop signals;
    const auto stream = open_stream_of(config, signals.token());
    return stream ? train_with(config, stream->problem, signals) : interrupted;
  }
  const Problem problem = leaving_at_once([&] { return read_problem(config); });
  SignalStop signals;
  return train_with(config, problem, signals);
}

/// What must be the same on all ranks.
std::string state_of(const Config& config, const Problem& problem) {
  return std::visit(
      [&](const auto& objective) {
        return fmt::format("{} {} {}\n{}", version(), objective->dimension(), objective->samples(),
                           to_toml(config::Command::train, config));
      },
      problem);
}

template <typename Real>
int train_rank(const Config& config, const Objective<Real>& objective, SignalStop& signals,
               Ranks& ranks) {
  std::optional<TrainRun<Real>> run;
  std::string start_message;  // no rank looks for a step size or a checkpoint of its own
  const std::string unsettled = mistake_of([&] {
    if (ranks.rank() == 0) run.emplace(config, objective, signals);
  });
  if (!ranks.agree(unsettled, "")) return done;  // rank 0 reports it
  // Before an earlier run makes room for this one; a signal may have reached one rank alone.
  if (ranks.any(run ? run->is_stopped() : signals.token().stop_requested()))
    return run ? interrupted : done;
  const std::string unopened = mistake_of([&] {
    if (!run) return;
    run->open();
    start_message = run->start();
  });
  if (!ranks.agree(unopened, "")) return done;
  start_message = ranks.broadcast(std::move(start_message));
  RankStart start;
  const std::string unread = mistake_of([&] {
    if (!run) start = rank_start(start_message);
    start_message = {};  // a whole checkpoint
  });
  if (!ranks.agree(unread, "")) return done;
  if (run)
    return run->run([&](const TrainOptions& options, const auto& callbacks) {
      return *ranks.train<Real>(objective, options, config, callbacks);
    });
  TrainOptions options = config.run;
  options.eta = start.eta;
  set_schedule(options.rule.schedule, start.schedule);
  options.resume = start.checkpoint ? &*start.checkpoint : nullptr;
  options.stop = signals.token();
  ranks.train<Real>(objective, options, config);
  return done;
}

int train_problem_on_ranks(const Config& config, const Problem& problem, SignalStop& signals,
                           Ranks& ranks) {
  if (!ranks.agree("", state_of(config, problem))) return done;
  return std::visit(
      [&](const auto& objective) { return train_rank(config, *objective, signals, ranks); },
      problem);
}

// All ranks read the same rows, and each learns from its own. The first rows, from which rank 0
// finds what they are, may be fewer when another rank looks.
int train_stream_on_ranks(Config config, SignalStop& signals, Ranks& ranks) {
  std::shared_ptr<const StreamProblem> stream;
  const auto open = [&] {
    const std::string mistake = mistake_of(
        [&] { stream = open_stream_of(config, signals.token(), ranks.rank(), ranks.size()); });
    return ranks.agree(mistake, "");
  };
  const bool first = ranks.rank() == 0;
  if (!(first ? open() : ranks.agree("", ""))) return done;
  if (ranks.any(first && !stream)) return first ? interrupted : done;
  ProblemChoice& problem = config.problem;
  std::istringstream shape(ranks.broadcast(
      first ? fmt::format("{} {}", *problem.features, problem.classes.value_or(0)) : ""));
  shape >> problem.features.emplace();
  if (std::size_t classes = 0; shape >> classes && classes > 0) problem.classes = classes;
  if (!(first ? ranks.agree("", "") : open())) return done;
  if (ranks.any(!stream)) return first ? interrupted : done;
  return train_problem_on_ranks(config, stream->problem, signals, ranks);
}

// Until all have agreed, no rank may leave on its own: the others would wait for it.
int train_on_ranks(const std::optional<Config>& config, std::exception_ptr mistake) {
  if (!may_become_ranks()) return bad_input;
  SignalStop signals(is_first_process() ? SignalStop::Kind::rank : SignalStop::Kind::quiet_rank);
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return bad_input;
  Problem problem;
  const std::string what = mistake_of([&] {
    if (mistake) std::rethrow_exception(mistake);
    require_all_processes(ranks);
    if (!is_stream(config->problem.data)) problem = read_problem(*config);
  });
  if (!ranks.agree(what, "")) return done;  // rank 0 reports it
  if (is_stream(config->problem.data)) return train_stream_on_ranks(*config, signals, ranks);
  return train_problem_on_ranks(*config, problem, signals, ranks);
}

}  // namespace

Problem read_problem(const Config& config) {
  Problem problem = make_problem(config.problem, config.run.seed);
  const std::string line = describe_network(config.problem, problem);
  if (config.output.quiet || !is_first_process()) return problem;
  if (!line.empty()) print_note("{}\n", line);
  const auto* const holder = std::visit(
      [](const auto& objective) { return dynamic_cast<const HoldsSamples*>(objective.get()); },
      problem);
  if (const auto* const samples = holder ? holder->prepared() : nullptr)
    if (const std::string columns = describe_columns(*samples); !columns.empty())
      print_note("{}\n", columns);
  return problem;
}

std::shared_ptr<const StreamProblem> open_stream_of(Config& config, const std::stop_token& stop,
                                                    std::size_t part, std::size_t parts) {
  const TrainOptions& run = config.run;
  auto opened = open_stream(config.problem,
                            {.workers = run.workers / parts,
                             .batch = *run.batch,
                             .seed = run.seed,
                             .part = part,
                             .parts = parts,
                             .at_most = run.max_time},
                            stop);
  if (!opened) return nullptr;
  auto stream = std::make_shared<const StreamProblem>(std::move(*opened));
  config.problem = stream->choice;
  config.run.make_samples = [stream](WorkerId, std::uint64_t) { return stream->make_samples(); };
  const std::string line = describe_network(config.problem, stream->problem);
  if (!line.empty() && !config.output.quiet && is_first_process()) print_note("{}\n", line);
  return stream;
}

int train_command(const std::function<Config()>& read) {
  std::optional<Config> config;
  std::exception_ptr mistake;
  try {
    config = read();
    if (config->ranks.expected == 0 || is_first_process())
      config::settle_watch(*config, std::getenv("DASGD_WATCH_TOKEN"),
                           [](const std::string& line) { print_note("dasgd: {}\n", line); });
  } catch (const InputError&) {
    mistake = std::current_exception();
  }
  const bool on_ranks = config ? config->ranks.expected > 0 : config::find_launch().has_value();
  if (on_ranks) return train_on_ranks(config, mistake);
  if (mistake) std::rethrow_exception(mistake);
  if (!config->elastic.listen.empty()) return train_elastic(*config);
  return train_on_threads(*config);
}

}  // namespace dasgd::app
