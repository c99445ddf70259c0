// How good answers are that are numbers.
#pragma once

#include <optional>

#include "dasgd/core/held_out.hpp"
#include "dasgd/data/moments.hpp"
#include "dasgd/data/preprocessing.hpp"

namespace dasgd {

/// Adds `mse` and `r2`. `square` is the mean squared error and `targets` are those of the part,
/// both of targets as they are learnt.
inline void judge_numbers(PartFigures& found, double square, const Moments& targets,
                          const std::optional<TargetScale>& scale) {
  found.mse = square * (scale ? scale->deviation * scale->deviation : 1);
  if (targets.squares > 0) found.r2 = 1 - square / targets.variance();
}

}  // namespace dasgd
