// What a loop leaves behind and shows while it goes: a run directory and a live page.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/archive/directory_run.hpp"
#include "dasgd/config/config.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"
#include "dasgd/watch/page/live_page.hpp"

namespace dasgd::python {

/// Made by the process that keeps it; what it opens is there until it is gone.
class PeerRecord {
 public:
  using Callbacks = std::vector<Callback<float>>;
  using Train =
      std::function<std::optional<TrainResult<float>>(const TrainOptions&, const Callbacks&)>;

  /// Whether settings ask for anything of this.
  static bool is_wanted(const config::Config& config);

  /// Throws InputError where the directory or the port cannot be used. `optimizer`: the name of the
  /// one that makes the updates instead of a rule; may be empty. `on_stop`: the button of the page.
  PeerRecord(const config::Config& config, const std::string& optimizer,
             const Objective<float>& objective, std::function<void()> on_stop);

  const std::string& directory() const { return run_.directory().path(); }
  /// Of the live page; empty: there is none.
  std::string url() const { return page_ ? page_->url() : ""; }

  /// Trains and writes everything. What failed is in the result.
  TrainResult<float> run(const Train& train, TrainOptions options);

  /// Figures of the caller, for the next line of metrics and the page. Any thread.
  void log(const std::map<std::string, double>& values);
  /// Writes those that were logged after the last line. When `run` has returned.
  void add_rest();

 private:
  Progress<float> with_own_figures(Progress<float> progress);

  const config::Config config_;
  DirectoryRun<float> run_;
  std::optional<config::LivePage> page_;
  std::mutex mutex_;  // guards the next
  std::map<std::string, double> logged_;
  std::optional<Evaluation> evaluation_;  // the latest
};

}  // namespace dasgd::python
