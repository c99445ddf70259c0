// Going on with a run whose process has gone (docs/checkpoints.md).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// What a checkpoint says about its run: by name, in words.
using RunFacts = std::map<std::string, std::string>;

/// What the options say of a run over so many samples, beside what is `given`.
RunFacts facts_of(const TrainOptions& options, std::size_t samples, RunFacts given);

using Warn = std::function<void(const std::string&)>;

/// The newest good checkpoint of a run directory; nothing if the run was ended before its first
/// one. Throws InputError when none of several can be read, or when the run was about something
/// else than `facts`.
std::optional<Checkpoint> find_checkpoint(const std::string& directory, const RunFacts& facts,
                                          const Warn& warn);

/// Whether evaluations of two legs may be compared.
bool are_judged_alike(const RunFacts& before, const RunFacts& now);

/// The whole lines of the directory's metrics up to `seconds`: later ones are about gradients that
/// were lost. They are under their final name again when this returns.
std::string carry_metrics(const std::string& directory, double seconds);

}  // namespace dasgd
