#include "stream.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/logistic_stream.hpp"
#include "dasgd/problems/softmax_stream.hpp"

namespace dasgd::app {
namespace {

constexpr std::string_view follow = "follow:";
constexpr std::size_t kept_rows = 16'384;

void require_no_stream_settings(const Config& config) {
  const auto refuse = [](const char* option) {
    throw InputError(std::string(option) + " is for --data - and --data follow:FILE");
  };
  if (config.format) refuse("--format");
  if (config.features) refuse("--features");
  if (config.classes) refuse("--classes");
}

LineInput open_lines(const std::string& data) {
  return data == "-" ? LineInput::read_standard_input()
                     : LineInput::follow(data.substr(follow.size()));
}

// More than all workers have in their hands, so that the reader always finds a place.
std::size_t places(const Config& config) {
  return std::max(kept_rows, 4 * *config.workers * *config.batch);
}

Problem make_stream_problem(const Config& config, const RowWindow& window) {
  if (config.model == "logistic") return std::make_unique<LogisticStream>(window, *config.features);
  return std::make_unique<SoftmaxStream>(window, *config.features, *config.classes);
}

}  // namespace

bool is_stream(const std::string& data) { return data == "-" || data.starts_with(follow); }

void resolve_stream(Config& config) {
  if (!is_stream(config.data)) return require_no_stream_settings(config);
  const auto refuse = [&](const std::string& why) {
    throw InputError("--data " + config.data + ": " + why);
  };
  if (config.model != "logistic" && config.model != "softmax")
    refuse("--model " + config.model +
           " needs data that stays; streams are for logistic and softmax");
  if (config.ranks.expected > 0) refuse("streams need threads, not MPI ranks");
  if (config.epochs) refuse("--epochs counts passes, and a stream has none; use --total-gradients");
  if (config.step_choice != Config::StepChoice::given)
    refuse("a pilot for the step size needs data that stays; give --lr X");
  if (config.sampling == Sampling::shards)
    refuse("--sampling shards deals data that stays; rows of a stream go to whoever asks first");
  if (config.batch && *config.batch == 0)
    refuse("--batch must be at least 1: a stream has no whole");
  if (config.classes && config.model == "logistic")
    refuse("--classes is for softmax; logistic has two");
  if (!config.batch && config.model == "logistic") config.batch = 32;
}

std::unique_ptr<SampleSource> StreamRun::make_samples() const {
  return std::make_unique<WindowSource>(stream->window(), *config.batch);
}

std::optional<StreamRun> open_stream(const Config& config, const std::stop_token& stop) {
  auto labels = config.model == "logistic" ? sign_labels() : class_labels(config.classes);
  StreamRun run{config};
  run.stream = std::make_unique<RowStream>(
      open_lines(config.data), RowStream::Options{config.format, config.features, places(config)},
      std::move(labels));
  const auto shape = run.stream->shape(stop, config.max_time);
  if (stop.stop_requested()) return std::nullopt;
  if (!shape)
    throw InputError("--data " + config.data +
                     ": too few rows within --max-time to tell features and classes");
  run.config.features = shape->features;
  if (config.model == "softmax") run.config.classes = shape->classes;
  run.problem = make_stream_problem(run.config, run.stream->window());
  return run;
}

}  // namespace dasgd::app
