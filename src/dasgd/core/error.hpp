// The failures that core can meet.
#pragma once

#include <stdexcept>
#include <string>

#include "dasgd/base/input_error.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

/// The step size is too large: the model runs away.
class Divergence : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An update that is not finite, or that throws the model out of its range. It is found before
/// anything was applied or sent, so every replica is still good.
class DivergenceError : public Divergence {
 public:
  DivergenceError(WorkerId worker, GradientName gradient, std::size_t coordinate, double value,
                  double eta);

  const WorkerId worker;
  const GradientName gradient;
  const std::size_t coordinate;
};

/// The loss of a worker has grown far beyond what it was at the beginning.
class LossDivergence : public Divergence {
 public:
  LossDivergence(WorkerId worker, double first, double recent, double eta);
};

}  // namespace dasgd
