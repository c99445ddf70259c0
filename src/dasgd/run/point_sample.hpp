// What a handful of mini-batch gradients at one point say.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

struct PointSample {
  static constexpr std::size_t batches = 24, fewest_batches = 2;

  std::size_t drawn = 0;                    ///< batches that it rests on
  double variance = 0, variance_error = 0;  ///< of a gradient around the mean
  double mean_norm = 0, largest_norm = 0;
  double loss = 0;
};

/// Batches are of `batch` independent draws each; with 0 there is one, of all samples. A few will
/// do once `is_over` says so.
template <typename Real>
PointSample sample_point(const Objective<Real>& objective, const std::vector<Real>& x,
                         std::size_t batch, Random& random,
                         const std::function<bool()>& is_over = {});

}  // namespace dasgd
