#include "dasgd/models/stream.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/data/stream/stream_samples.hpp"
#include "dasgd/models/network_loader.hpp"
#include "dasgd/models/network_problem.hpp"
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

Problem make_stream_problem(const ProblemChoice& choice, const RowWindow& window,
                            const StreamShape& shape, std::uint64_t seed) {
  if (choice.model == "logistic")
    return std::make_unique<LogisticStream>(window, shape.features, shape.signs);
  if (choice.model == "softmax")
    return std::make_unique<SoftmaxStream>(window, *choice.features, *choice.classes);
  auto rows = std::make_shared<const StreamSamples>(window, *choice.features, *choice.classes,
                                                    "the last rows of " + choice.data);
  return make_network_problem(network_options(choice, seed), std::move(rows));
}

}  // namespace

bool is_stream(const std::string& data) { return data == "-" || data.starts_with(follow); }

std::unique_ptr<SampleSource> StreamProblem::make_samples() const {
  return std::make_unique<WindowSource>(stream->window(), batch);
}

std::optional<StreamProblem> open_stream(const ProblemChoice& choice, const StreamReaders& readers,
                                         const std::stop_token& stop) {
  if (is_network(choice.model)) load_networks(choice.model);  // before rows are awaited
  auto labels = choice.model == "logistic" ? sign_labels() : class_labels(choice.classes);
  // More places than all workers have in their hands, so that the reader always finds one.
  const std::size_t places = std::max(kept_rows, 4 * readers.workers * readers.batch);
  StreamProblem run{choice, readers.batch};
  run.stream = std::make_unique<RowStream>(
      open_lines(choice.data),
      RowStream::Options{choice.format, choice.features, places, readers.part, readers.parts},
      std::move(labels));
  const auto shape = run.stream->shape(stop, readers.at_most);
  if (stop.stop_requested()) return std::nullopt;
  if (!shape)
    throw InputError("`data` " + choice.data +
                     ": too few rows within `budget.max_time` to determine features and classes");
  run.choice.features = shape->features;
  if (choice.model != "logistic") run.choice.classes = shape->classes;
  run.problem = make_stream_problem(run.choice, run.stream->window(), *shape, readers.seed);
  return run;
}

}  // namespace dasgd
