// A number as JSON can say it: there is no infinity and no NaN there.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace dasgd {

inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace dasgd
