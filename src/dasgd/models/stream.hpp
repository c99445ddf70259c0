// Samples that arrive: on standard input, or at the end of a file.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>

#include "dasgd/core/samples.hpp"
#include "dasgd/data/stream/row_stream.hpp"
#include "dasgd/models/problem.hpp"

namespace dasgd {

/// Whether data is a stream: "-" or "follow:FILE".
bool is_stream(const std::string& data);

/// A stream whose first rows are there: what workers learn from and where they get it.
struct StreamProblem {
  ProblemChoice choice;  ///< with what the first rows have told
  std::size_t batch;     ///< rows per gradient
  std::unique_ptr<RowStream> stream = {};
  Problem problem = {};

  std::unique_ptr<SampleSource> make_samples() const;
};

/// Opens the stream of a choice for so many workers and waits for its first rows; nothing if a stop
/// is requested before. Throws InputError, also when they have not come within `at_most`.
std::optional<StreamProblem> open_stream(const ProblemChoice& choice, std::size_t workers,
                                         std::size_t batch, const std::stop_token& stop,
                                         std::optional<std::chrono::nanoseconds> at_most);

}  // namespace dasgd
