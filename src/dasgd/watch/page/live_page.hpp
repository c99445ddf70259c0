// --watch: a run in the browser while it goes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "dasgd/config/config.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/runtime/progress.hpp"
#include "dasgd/watch/live_run.hpp"
#include "dasgd/watch/server.hpp"

namespace dasgd::config {

/// Sets the token where it stands in the file of the settings or, if there is none, in
/// `environment` (null: not set); `note` gets a line about a file that others can read. Throws
/// InputError for watch settings that cannot be. To be called once, before anything else is done.
void settle_watch(Config& config, const char* environment,
                  const std::function<void(const std::string&)>& note);

/// Listens from its creation on; `on_stop` is called from another thread when somebody presses the
/// stop button, and `warn` for requests that fail. Before anything else, `show` says what there is
/// to see.
class LivePage {
 public:
  LivePage(const Config& config, std::function<void()> on_stop,
           std::function<void(const std::string&)> warn = {});
  void show(const std::string& directory, const std::string& config_text) {
    run_.emplace(directory, config_text);
  }

  /// Before that: what is done until the run begins, line by line.
  void prepare(const Config& config, const std::string& line);

  ApplicationSink& sink() { return *run_; }
  std::string url() const { return server_.url(); }

  template <typename Real>
  void update(const Progress<Real>& progress) {
    run_->update(progress, {progress.draining ? "draining" : "running", progress.done,
                            progress.seconds_left});
    publish(progress.seconds);
  }
  /// Shows the end of the run to whoever looks, and stops.
  void end(const RunSummary& summary);

 private:
  void publish(double seconds);

  std::optional<watch::LiveRun> run_;
  watch::Server server_;
  double next_frame_ = 0;
};

}  // namespace dasgd::config
