#include "peer_record.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/settings/toml_file.hpp"

namespace dasgd::python {
namespace {

config::Config settled(config::Config config) {
  config::settle_watch(config, std::getenv("DASGD_WATCH_TOKEN"), [](const std::string& line) {
    std::fprintf(stderr, "dasgd: %s\n", line.c_str());
  });
  return config;
}

// What an optimizer changes is a gradient with step size 1.
std::string text_of(config::Config config, const std::string& optimizer) {
  config.problem.model = "python";
  std::string text = to_toml(config::Command::train, config);
  if (optimizer.empty()) return text;
  const auto replace = [&](const std::string& line, const std::string& by) {
    const std::size_t at = text.find("\n" + line + "\n");
    if (at != text.npos) text.replace(at + 1, line.size(), by);
  };
  replace("lr = 1", "lr = \"of the optimizer\"");
  replace("kind = \"sgd\"", fmt::format("kind = \"{}\"", optimizer));
  replace("weight_decay = 0", "");
  replace("warmup = 0", "");
  return text;
}

}  // namespace

bool PeerRecord::is_wanted(const config::Config& config) {
  return !config.output.out.empty() || config.output.trace || config.watch.port;
}

PeerRecord::PeerRecord(const config::Config& config, const std::string& optimizer,
                       const Objective<float>& objective, std::function<void()> on_stop)
    : config_(settled(config)),
      run_(objective, config.run,
           {.path = config.output.out,
            .name = "loop",
            .trace = config.output.trace,
            .report = !config.output.no_report}) {
  const std::string settings = text_of(config_, optimizer);
  write_file(run_.directory().file("config.toml"), settings);
  if (!config_.watch.port) return;
  page_.emplace(config_, std::move(on_stop));
  page_->show(directory(), settings);
}

TrainResult<float> PeerRecord::run(const Train& train, TrainOptions options) {
  const Checkpoint* const resume = options.resume;
  if (page_) options.watch = &page_->sink();
  Callbacks shown;
  if (page_)
    shown.push_back([this](const Progress<float>& p) {
      page_->update(p);
      return Flow::go_on;
    });
  auto result = run_.run(
      [&](const TrainOptions& all, const Callbacks& callbacks) {
        TrainOptions own = all;
        own.resume = resume;  // of the loop, not of the directory
        const auto on_progress = [&](const Progress<float>& p) {
          const Progress<float> now = with_own_figures(p);
          for (const Callback<float>& callback : callbacks) callback(now);
          return Flow::go_on;
        };
        auto trained = *train(own, {on_progress});
        run_.add_last(with_own_figures({}));
        return trained;
      },
      options, shown);
  if (page_) page_->end(result.summary);
  return result;
}

void PeerRecord::log(const std::map<std::string, double>& values) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, value] : values) logged_[name] = value;
}

void PeerRecord::add_rest() {
  const auto rest = with_own_figures({});
  if (rest.evaluated || !rest.own.empty()) run_.add_last(rest);
}

Progress<float> PeerRecord::with_own_figures(Progress<float> progress) {
  const std::lock_guard lock(mutex_);
  progress.own = std::exchange(logged_, {});
  const auto take = [&](const char* name) -> std::optional<double> {
    const auto at = progress.own.find(name);
    if (at == progress.own.end()) return std::nullopt;
    const double value = at->second;
    progress.own.erase(at);
    return value;
  };
  progress.accuracy = take("accuracy");
  progress.eval_loss = take("eval_loss");
  progress.evaluated = progress.accuracy || progress.eval_loss;
  if (progress.evaluated)
    evaluation_ = Evaluation{progress.seconds, progress.accuracy, progress.eval_loss};
  progress.evaluation = evaluation_;
  return progress;
}

}  // namespace dasgd::python
