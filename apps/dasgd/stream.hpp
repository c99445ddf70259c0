// Samples that arrive: --data - and --data follow:FILE.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "config.hpp"
#include "dasgd/data/row_stream.hpp"
#include "problem.hpp"

namespace dasgd::app {

/// Whether --data names a stream.
bool is_stream(const std::string& data);

/// Fills in what a stream leaves open, and throws InputError for what it cannot be used with; for
/// data that is no stream, if a setting of streams is given.
void resolve_stream(Config& config);

/// A run on a stream: what workers learn from and where they get it.
struct StreamRun {
  Config config;  ///< with what the first rows have told
  std::unique_ptr<RowStream> stream;
  Problem problem;

  std::unique_ptr<SampleSource> make_samples() const;
};

/// Opens the stream of a resolved config and waits for its first rows; nothing if a stop is
/// requested before. Throws InputError, also when --max-time is over before.
std::optional<StreamRun> open_stream(const Config& config, const std::stop_token& stop);

}  // namespace dasgd::app
