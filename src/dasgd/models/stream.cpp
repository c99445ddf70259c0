#include "dasgd/models/stream.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/logistic_stream.hpp"
#include "dasgd/problems/softmax_stream.hpp"

namespace dasgd {
namespace {

constexpr std::string_view follow = "follow:";
constexpr std::size_t kept_rows = 16'384;

LineInput open_lines(const std::string& data) {
  return data == "-" ? LineInput::read_standard_input()
                     : LineInput::follow(data.substr(follow.size()));
}

Problem make_stream_problem(const ProblemChoice& choice, const RowWindow& window) {
  if (choice.model == "logistic") return std::make_unique<LogisticStream>(window, *choice.features);
  return std::make_unique<SoftmaxStream>(window, *choice.features, *choice.classes);
}

}  // namespace

bool is_stream(const std::string& data) { return data == "-" || data.starts_with(follow); }

std::unique_ptr<SampleSource> StreamProblem::make_samples() const {
  return std::make_unique<WindowSource>(stream->window(), batch);
}

std::optional<StreamProblem> open_stream(const ProblemChoice& choice, std::size_t workers,
                                         std::size_t batch, const std::stop_token& stop,
                                         std::optional<std::chrono::nanoseconds> at_most) {
  auto labels = choice.model == "logistic" ? sign_labels() : class_labels(choice.classes);
  // More places than all workers have in their hands, so that the reader always finds one.
  const std::size_t places = std::max(kept_rows, 4 * workers * batch);
  StreamProblem run{choice, batch};
  run.stream = std::make_unique<RowStream>(
      open_lines(choice.data), RowStream::Options{choice.format, choice.features, places},
      std::move(labels));
  const auto shape = run.stream->shape(stop, at_most);
  if (stop.stop_requested()) return std::nullopt;
  if (!shape)
    throw InputError("`data` " + choice.data +
                     ": too few rows within `budget.max_time` to determine features and classes");
  run.choice.features = shape->features;
  if (choice.model == "softmax") run.choice.classes = shape->classes;
  run.problem = make_stream_problem(run.choice, run.stream->window());
  return run;
}

}  // namespace dasgd
