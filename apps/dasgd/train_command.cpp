#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "advice.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/npy.hpp"
#include "dasgd/runtime/train.hpp"
#include "problem.hpp"
#include "report_command.hpp"
#include "run_directory.hpp"
#include "signals.hpp"
#include "status_line.hpp"
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
        directory_(config.out, config.model),
        status_(config.quiet),
        metrics_(directory_.file("metrics.jsonl")) {
    if (const auto advice = settle_step_size(config_, objective, signals.token())) {
      write_file(directory_.file("advice.json"), to_json(*advice));
      status_.say(describe(*advice));
    }
    const std::string settings = to_toml(Command::train, config_);
    write_file(directory_.file("config.toml"), settings);
    if (config.watch_port) {
      watch_.emplace(config_, directory_.path(), settings, [this] { stop_.request_stop(); });
      if (!config.quiet) status_.say("watch the run at " + watch_->url());
    }
    if (config.trace) trace_.emplace(directory_.file("trace.jsonl"), *config.workers);
  }

  int run() {
    TrainOptions options = train_options(config_);
    const std::stop_callback forward(signals_.token(), [this] { stop_.request_stop(); });
    options.stop = stop_.get_token();
    if (watch_) options.watch = &watch_->sink();
    options.trace = trace_ ? &*trace_ : nullptr;
    options.warn = [this](const std::string& line) { status_.say("dasgd: " + line); };
    const auto result = run_training<Real>(objective_, options, {[this](const Progress<Real>& p) {
                                             status_.show(p);
                                             metrics_.write(metrics_line(p));
                                             metrics_.flush();  // a run that is killed keeps them
                                             if (watch_) watch_->look(p);
                                             return Flow::go_on;
                                           }});
    write(result);
    write_run_report(config_, directory_.path());
    tell(result.summary);
    if (watch_) watch_->end(to_json(result.summary));
    if (result.failure) std::rethrow_exception(result.failure);
    if (!result.summary.audit_is_clean())
      throw std::runtime_error("the audit failed; see summary.json");
    return result.summary.stop_reason == "interrupted" ? interrupted : done;
  }

 private:
  void write(const TrainResult<Real>& result) {
    metrics_.write(final_metrics(result.summary));
    metrics_.commit();
    write_file(directory_.file("model.npy"), to_npy<Real>(result.model));
    write_file(directory_.file("summary.json"), to_json(result.summary));
    if (trace_) trace_->finish();
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
  RunDirectory directory_;
  StatusLine status_;
  AtomicFile metrics_;
  std::optional<TraceWriter> trace_;
  std::stop_source stop_;
  std::optional<Watch> watch_;  // last: its thread may ask for a stop until it is gone
};

}  // namespace

int train_command(const Config& config) {
  validate_watch(config);
  SignalStop signals;
  const Problem problem = make_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return TrainRun<Real>(config, *objective, signals).run();
      },
      problem);
}

}  // namespace dasgd::app
