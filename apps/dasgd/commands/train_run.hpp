// A run with its directory, its browsers and a person who looks on.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "commands/commands.hpp"
#include "commands/summary.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/archive/directory_run.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/config/step_size.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/watch/page/live_page.hpp"
#include "ranks/rank_start.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"
#include "terminal/status_line.hpp"

namespace dasgd::app {

/// A run with its directory, its browsers and a person who looks on.
template <typename Real>
class TrainRun {
 public:
  /// Does all that may fail before the run begins; an earlier run in the directory is still there.
  TrainRun(const Config& config, const Objective<Real>& objective, SignalStop& signals)
      : config_(config), objective_(objective), signals_(signals), status_(config.output.quiet) {
    if (config.output.resume.empty()) RunDirectory::require_usable(config.output.out);
    if (config.watch.port) {
      watch_.emplace(
          config_, [this] { stop_.request_stop(); },
          [this](const std::string& line) { status_.say("dasgd: " + line); });
      if (!config_.output.quiet) status_.say("watch the run at " + watch_->url());
    }
    const std::stop_callback forward(signals.token(), [this] { stop_.request_stop(); });
    if (config.output.resume.empty() && config.step != config::StepChoice::given) {
      planned_.emplace(config.output.out, config.problem.model,
                       to_toml(config::Command::train, config));
      config_.output.out = planned_->path();
    }
    advice_ = settle_step_size(config_, objective, stop_.get_token(), nullptr,
                               [this](const std::string& line) { show_trial(line); });
    status_.clear();
    if (advice_) status_.say(config::with_options(describe(*advice_, config_)));
    settings_ = to_toml(config::Command::train, config_);
  }

  /// Opens the directory, where this run takes the place of an earlier one.
  void open() {
    if (planned_) planned_->begin();
    run_.emplace(objective_, with_warnings(config_.run), directory_options(config_));
    write_file(file("config.toml"), settings_);
    if (advice_) write_file(file("advice.json"), to_json(*advice_));
    if (!watch_) return;
    watch_->show(directory().path(), settings_);
  }

  int run(const typename DirectoryRun<Real>::Engine& train) {
    if (!run_ && is_stopped()) return interrupted;
    if (!run_) open();
    TrainOptions options = with_warnings(config_.run);
    const std::stop_callback forward(signals_.token(), [this] { stop_.request_stop(); });
    options.stop = stop_.get_token();
    if (watch_) options.watch = &watch_->sink();
    const auto result =
        run_->run(train, options, {[this](const Progress<Real>& p) { return show(p); }});
    print_result(result.summary);
    if (watch_) watch_->end(result.summary);
    if (result.failure) std::rethrow_exception(result.failure);
    if (!result.summary.audit_is_clean())
      throw std::runtime_error("the audit failed; see summary.json");
    return result.summary.stop_reason == StopReason::interrupted ? interrupted : done;
  }

  /// Somebody has stopped it already.
  bool is_stopped() const {
    return signals_.token().stop_requested() || stop_.get_token().stop_requested();
  }
  /// Once it is open.
  const RunDirectory& directory() const { return run_->directory(); }
  /// Its config.toml.
  const std::string& settings() const { return settings_; }
  void say(const std::string& line) { status_.say(line); }

  /// What other ranks have to know before they begin, once it is open.
  std::string start() const {
    return to_bytes(config_.run.eta, config_.run.rule.schedule, run_->start());
  }

 private:
  std::string file(const std::string& name) const { return directory().file(name); }

  static DirectoryOptions directory_options(const Config& config) {
    return {.path = config.output.out,
            .name = config.problem.model,
            .resume = !config.output.resume.empty(),
            .trace = config.output.trace,
            .report = !config.output.no_report,
            .facts = config::subject_of(config)};
  }

  // What is tried before the run.
  void show_trial(const std::string& line) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    status_.show(line, passed.count());
    if (watch_) watch_->prepare(config_, line);
  }

  TrainOptions with_warnings(TrainOptions options) {
    options.warn = [this](const std::string& line) {
      status_.say("dasgd: " + config::with_options(line));
    };
    return options;
  }

  Flow show(const Progress<Real>& progress) {
    status_.show(progress);
    if (watch_) watch_->update(progress);
    return Flow::go_on;
  }

  void print_result(const RunSummary& summary) {
    status_.clear();
    if (config_.output.json) {
      print_result_text(to_json(summary));
    } else if (!config_.output.quiet) {
      print_summary("trained", config_, summary, directory().path());
    }
  }

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Config config_;
  const Objective<Real>& objective_;
  SignalStop& signals_;
  StatusLine status_;
  std::optional<Advice> advice_;
  std::string settings_;
  std::optional<PlannedRun> planned_;
  std::optional<DirectoryRun<Real>> run_;
  std::stop_source stop_;
  std::optional<config::LivePage> watch_;  // last: its thread may ask for a stop until it is gone
};

}  // namespace dasgd::app
