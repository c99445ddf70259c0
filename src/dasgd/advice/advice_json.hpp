// Advice as `dasgd advise --json` prints it and advice.json keeps it.
#pragma once

#include <string>

#include "dasgd/advice/advise.hpp"

namespace dasgd {

std::string to_json(const Advice& advice);

}  // namespace dasgd
