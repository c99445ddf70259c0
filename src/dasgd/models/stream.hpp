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
  ProblemChoice choice;  ///< with what the first rows determine
  std::size_t batch;     ///< rows per gradient
  std::unique_ptr<RowStream> stream = {};
  Problem problem = {};

  std::unique_ptr<SampleSource> make_samples() const;
};

/// A consumer of a stream.
struct StreamReaders {
  std::size_t workers = 1;  ///< of this process
  std::size_t batch = 32;
  std::uint64_t seed = 1;  ///< of the initial weights of a network
  /// Of `parts` processes that read the same rows this one learns from every so many, beginning
  /// with row number `part`.
  std::size_t part = 0, parts = 1;
  std::optional<std::chrono::nanoseconds> at_most = {};  ///< to wait for the first rows
};

/// Opens the stream of a choice and waits for its first rows; nothing if a stop is requested
/// before. Throws InputError, also when they have not come in time.
std::optional<StreamProblem> open_stream(const ProblemChoice& choice, const StreamReaders& readers,
                                         const std::stop_token& stop);

}  // namespace dasgd
