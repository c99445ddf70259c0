// Keywords of Python as settings of a run.
#pragma once

#include <pybind11/pybind11.h>

#include "dasgd/config/config.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::python {

/// A config from keywords: keys of the TOML file, nested as dictionaries where it has sections, or
/// the names of the options with `_` for `-`. `config` is a file to begin with. Resolved. Throws
/// InputError that names the keyword.
config::Config read_config(config::Command command, const pybind11::dict& keywords);

/// The same for a worker whose model and samples are elsewhere: nothing is filled in.
config::Config read_peer_settings(const pybind11::dict& keywords);

}  // namespace dasgd::python
