// How far models are from each other, beside what the paper's Lemmas 7 and 8 say of it.
#pragma once

#include <optional>

namespace dasgd {

/// A mean over one worker's applications, of the worker where it is largest, and its published
/// bound; no bound where gradients carry noise, steps vary or L is not known.
struct Residual {
  double mean = 0;
  std::optional<double> bound;
};

/// With eta |g| summed over a staleness set, coordinate by coordinate: Delta.
struct Residuals {
  double distance = 0;              ///< mean of |x_i^t - x_j^s|^2: the true difference
  Residual lemma_7;                 ///< mean of |Delta|^2 over S
  Residual lemma_8;                 ///< mean of |Delta|^2 over S_hat
  double max_replica_distance = 0;  ///< the largest |x_i - x_j| of two workers at one instant
};

}  // namespace dasgd
