// The model that a run leaves behind: its numbers, and a TorchScript file where it is a network.
#pragma once

#include <span>

#include "dasgd/core/objective.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/npy.hpp"
#include "network_problem.hpp"
#include "run_directory.hpp"

namespace dasgd::app {

template <typename Real>
void write_model(const Objective<Real>& objective, std::span<const Real> x,
                 const RunDirectory& directory) {
  write_file(directory.file("model.npy"), to_npy<Real>(x));
  if constexpr (std::is_same_v<Real, float>)
    if (const auto bytes = torchscript_of(objective, x))
      write_file(directory.file("model.pt"), *bytes);
}

}  // namespace dasgd::app
