// Trains a model with decentralized asynchronous SGD on threads of this process.
#pragma once

#include <exception>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"

namespace dasgd {

/// Runs one thread per worker until budgets, targets or a stop end it, drains, and audits. Throws
/// InputError for options that cannot be; what fails while running is in the result.
template <typename Real>
TrainResult<Real> run_training(const Objective<Real>& objective, const TrainOptions& options,
                               const std::vector<Callback<Real>>& callbacks = {});

extern template TrainResult<float> run_training(const Objective<float>&, const TrainOptions&,
                                                const std::vector<Callback<float>>&);
extern template TrainResult<double> run_training(const Objective<double>&, const TrainOptions&,
                                                 const std::vector<Callback<double>>&);

/// The same, and throws what failed: a Divergence, or whatever the objective threw.
///   const auto result = dasgd::train(problem, {.workers = 8, .eta = 0.01});
template <typename Problem>
auto train(const Problem& problem, const TrainOptions& options = {},
           const std::vector<Callback<typename Problem::Scalar>>& callbacks = {}) {
  const Objective<typename Problem::Scalar>& objective = problem;
  auto result = run_training(objective, options, callbacks);
  if (result.failure) std::rethrow_exception(result.failure);
  return result;
}

}  // namespace dasgd
