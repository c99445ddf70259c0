// From a model's name and its data to an objective.
#pragma once

#include <memory>
#include <variant>

#include "config.hpp"
#include "dasgd/core/objective.hpp"

namespace dasgd::app {

using Problem = std::variant<std::unique_ptr<Objective<float>>, std::unique_ptr<Objective<double>>>;

/// The problem of a resolved config. Throws InputError for data that cannot be used.
Problem make_problem(const Config& config);

}  // namespace dasgd::app
