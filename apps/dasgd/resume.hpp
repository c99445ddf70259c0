// Going on with a run whose process has gone (docs/checkpoints.md).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "config.hpp"
#include "dasgd/record/checkpoint.hpp"

namespace dasgd::app {

/// The config file of the directory in `config.resume`, which becomes the directory of the run.
/// Throws InputError when there is none, or when another directory or file was asked for as well.
std::string config_of(Config& config, const std::string& config_file);

/// What a checkpoint says about its run.
std::map<std::string, std::string> facts_of(const Config& config, std::size_t samples);

using Warn = std::function<void(const std::string&)>;

/// The newest good checkpoint of the directory in `config.resume`; nothing if the run was ended
/// before its first one. Throws InputError when none of several can be read, or when the run was
/// about something else than `config`.
std::optional<Checkpoint> find_checkpoint(const Config& config, std::size_t samples,
                                          const Warn& warn);

/// The whole lines of the directory's metrics up to `seconds`: later ones are about gradients that
/// were lost. They are under their final name again when this returns.
std::string carry_metrics(const std::string& directory, double seconds);

}  // namespace dasgd::app
