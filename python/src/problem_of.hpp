// The problem of a run: from its settings, or an objective that was given.
#pragma once

#include <memory>
#include <pybind11/pybind11.h>

#include "dasgd/config/config.hpp"
#include "free_gil.hpp"
#include "own_objective.hpp"

namespace dasgd::python {

inline Problem problem_of(const config::Config& config, const pybind11::object& objective) {
  if (!objective.is_none()) return std::make_unique<OwnObjective>(objective);
  const FreeGil free;
  return make_problem(config.problem, config.run.seed);
}

}  // namespace dasgd::python
