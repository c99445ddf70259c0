#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "advice.hpp"
#include "best_model.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/plan/leg.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/checkpoint_directory.hpp"
#include "dasgd/record/trace_writer.hpp"
#include "dasgd/record/write_all.hpp"
#include "dasgd/runtime/train.hpp"
#include "launcher.hpp"
#include "model_files.hpp"
#include "problem.hpp"
#include "rank_launch.hpp"
#include "rank_start.hpp"
#include "ranks.hpp"
#include "report_command.hpp"
#include "resume.hpp"
#include "run_directory.hpp"
#include "signals.hpp"
#include "status_line.hpp"
#include "stream.hpp"
#include "summary.hpp"
#include "watch.hpp"

namespace dasgd::app {
namespace {

/// Everything a run writes while it goes and when it ends.
template <typename Real>
class TrainRun {
 public:
  TrainRun(const Config& config, const Objective<Real>& objective, SignalStop& signals)
      : config_(config),
        objective_(objective),
        signals_(signals),
        status_(config.quiet),
        start_(look_for_start()),
        directory_(start_ ? RunDirectory::reopen(config.resume, start_->legs.size() + 1)
                          : RunDirectory(config.out, config.model)),
        best_(directory_.path(), start_.has_value()),
        checkpoints_(directory_.file("checkpoints")),
        carried_(start_ ? carry_metrics(directory_.path(), start_->seconds) : ""),
        metrics_(directory_.file("metrics.jsonl")) {
    metrics_.write(carried_);
    metrics_.flush();
    if (const auto advice = settle_step_size(config_, objective, signals.token())) {
      write_file(directory_.file("advice.json"), to_json(*advice));
      status_.say(describe(*advice, config_));
    }
    const std::string settings = to_toml(Command::train, config_);
    write_file(directory_.file("config.toml"), settings);
    if (config.watch_port) {
      watch_.emplace(config_, directory_.path(), settings, [this] { stop_.request_stop(); });
      if (!config.quiet) status_.say("watch the run at " + watch_->url());
    }
    if (config.trace) trace_.emplace(directory_.file("trace.jsonl"), *config.workers);
  }

  using Engine =
      std::function<TrainResult<Real>(const TrainOptions&, const std::vector<Callback<Real>>&)>;

  int run(const Engine& train) {
    TrainOptions options = train_options(config_);
    const std::stop_callback forward(signals_.token(), [this] { stop_.request_stop(); });
    options.stop = stop_.get_token();
    if (watch_) options.watch = &watch_->sink();
    options.trace = trace_ ? &*trace_ : nullptr;
    options.warn = [this](const std::string& line) { status_.say("dasgd: " + line); };
    options.resume = start_ ? &*start_ : nullptr;
    options.evaluation.best = best_.known();
    if (config_.checkpoint_every.count() > 0) {
      options.checkpoint.every = config_.checkpoint_every;
      options.checkpoint.save = [this](Checkpoint checkpoint) {
        checkpoint.facts = facts_of(config_, objective_.samples());
        checkpoints_.save(checkpoint);
      };
    }
    const auto result = train(options, {[this](const Progress<Real>& p) { return report(p); }});
    const WriteAll written = write(result);
    tell(result.summary);
    if (watch_) watch_->end(result.summary);
    written.conclude(result.failure);
    if (!result.summary.audit_is_clean())
      throw std::runtime_error("the audit failed; see summary.json");
    return result.summary.stop_reason == "interrupted" ? interrupted : done;
  }

  /// What other ranks have to know before they begin.
  std::string start() const { return to_bytes(*config_.lr, start_); }

 private:
  // Before anything is written: what cannot be resumed stays as it is.
  std::optional<Checkpoint> look_for_start() {
    if (config_.resume.empty()) return std::nullopt;
    auto found = find_checkpoint(config_, objective_.samples(), [this](const std::string& line) {
      status_.say("dasgd: " + line);
    });
    TrainOptions options = train_options(config_);
    options.resume = found ? &*found : nullptr;
    require_runnable(options, objective_);
    return found;
  }

  Flow report(const Progress<Real>& progress) {
    status_.show(progress);
    metrics_.write(metrics_line(progress));
    metrics_.flush();  // a run that is killed keeps them
    if (watch_) watch_->look(progress);
    if (progress.best) best_.write<Real>(*progress.best, progress.best_model);
    return Flow::go_on;
  }

  WriteAll write(const TrainResult<Real>& result) {
    WriteAll write;
    write("the model", [&] { write_model<Real>(objective_, result.model, directory_); });
    if (!result.best_model.empty())
      write("the best model", [&] { best_.write<Real>(*result.summary.best, result.best_model); });
    write("summary.json",
          [&] { write_file(directory_.file("summary.json"), to_json(result.summary)); });
    write("metrics.jsonl", [&] {
      metrics_.write(final_metrics(result.summary));
      metrics_.commit();
    });
    const auto& clocks = result.summary.clocks;
    if (trace_) write("trace.jsonl", [&] { trace_->finish(clocks ? to_trace_line(*clocks) : ""); });
    write("the report", [&] { write_run_report(config_, directory_.path()); });
    return write;
  }

  static std::string final_metrics(const RunSummary& s) {
    RunFigures last;
    last.seconds = s.wall_seconds;
    last.gradients = s.gradients;
    last.applications = s.gradients * s.workers;
    last.samples = s.samples;
    last.gradients_per_second = static_cast<double>(s.gradients) / s.wall_seconds;
    last.loss = s.loss;
    last.S_now = last.S_avg = s.staleness.S_avg;
    last.S_max = s.staleness.S_max;
    last.gradients_by_worker = s.gradients_by_worker;
    last.accuracy = s.accuracy;
    last.eval_loss = s.eval_loss;
    return metrics_line(last);
  }

  void tell(const RunSummary& summary) {
    status_.clear();
    if (config_.json) {
      std::fputs(to_json(summary).c_str(), stdout);
    } else if (!config_.quiet) {
      print_summary("trained", config_, summary, directory_.path());
    }
  }

  Config config_;
  const Objective<Real>& objective_;
  SignalStop& signals_;
  StatusLine status_;
  const std::optional<Checkpoint> start_;  // where a resumed run goes on
  RunDirectory directory_;
  BestModel best_;
  CheckpointDirectory checkpoints_;
  const std::string carried_;  // the metrics of earlier legs
  AtomicFile metrics_;
  std::optional<TraceWriter> trace_;
  std::stop_source stop_;
  std::optional<Watch> watch_;  // last: its thread may ask for a stop until it is gone
};

using MakeSamples = decltype(TrainOptions::make_samples);

int train_with(const Config& config, const Problem& problem, SignalStop& signals,
               const MakeSamples& make_samples = {}) {
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return TrainRun<Real>(config, *objective, signals)
            .run([&](TrainOptions options, const auto& callbacks) {
              options.make_samples = make_samples;
              return run_training<Real>(*objective, options, callbacks);
            });
      },
      problem);
}

int train_on_stream(const Config& config, SignalStop& signals) {
  const auto opened = open_stream(config, signals.token());
  if (!opened) return interrupted;
  return train_with(opened->config, opened->problem, signals,
                    [&](WorkerId, std::uint64_t) { return opened->make_samples(); });
}

int train_on_threads(const Config& config) {
  SignalStop signals;
  if (is_stream(config.data)) return train_on_stream(config, signals);
  return train_with(config, make_problem(config), signals);
}

/// What must be the same on all ranks.
std::string state_of(const Config& config, const Problem& problem) {
  return std::visit(
      [&](const auto& objective) {
        return fmt::format("{} {} {}\n{}", version(), objective->dimension(), objective->samples(),
                           to_toml(Command::train, config));
      },
      problem);
}

template <typename Real>
int train_rank(const Config& config, const Objective<Real>& objective, SignalStop& signals,
               Ranks& ranks) {
  std::optional<TrainRun<Real>> run;
  std::string told;  // no rank looks for a step size or a checkpoint of its own
  const std::string mistake = mistake_of([&] {
    if (ranks.rank() != 0) return;
    run.emplace(config, objective, signals);
    told = run->start();
  });
  if (!ranks.agree(mistake, "")) return done;  // rank 0 tells
  told = ranks.broadcast(std::move(told));
  RankStart start;
  const std::string unread = mistake_of([&] {
    if (!run) start = rank_start(told);
    told = {};  // a whole checkpoint
  });
  if (!ranks.agree(unread, "")) return done;
  if (run)
    return run->run([&](const TrainOptions& options, const auto& callbacks) {
      return *ranks.train<Real>(objective, options, config, callbacks);
    });
  TrainOptions options = train_options(config);
  options.eta = start.eta;
  options.resume = start.checkpoint ? &*start.checkpoint : nullptr;
  options.stop = signals.token();
  ranks.train<Real>(objective, options, config);
  return done;
}

// Until all have agreed, no rank may leave on its own: the others would wait for it.
int train_on_ranks(const std::optional<Config>& config, std::exception_ptr mistake) {
  if (!may_become_ranks()) return bad_input;
  SignalStop signals(is_first_process() ? SignalStop::Kind::rank : SignalStop::Kind::quiet_rank);
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return bad_input;
  Problem problem;
  std::string state;
  const std::string what = mistake_of([&] {
    if (mistake) std::rethrow_exception(mistake);
    require_all_processes(ranks);
    problem = make_problem(*config);
    state = state_of(*config, problem);
  });
  if (!ranks.agree(what, state)) return done;  // rank 0 tells
  return std::visit(
      [&](const auto& objective) { return train_rank(*config, *objective, signals, ranks); },
      problem);
}

}  // namespace

int train_command(const std::function<Config()>& read) {
  std::optional<Config> config;
  std::exception_ptr mistake;
  try {
    config = read();
    const auto launch = find_launch();
    if (config->ranks.expected == 0 || !launch || launch->rank == 0) validate_watch(*config);
  } catch (const InputError&) {
    mistake = std::current_exception();
  }
  const bool on_ranks = config ? config->ranks.expected > 0 : find_launch().has_value();
  if (on_ranks) return train_on_ranks(config, mistake);
  if (mistake) std::rethrow_exception(mistake);
  return train_on_threads(*config);
}

}  // namespace dasgd::app
