// What a run leaves behind when it ends, the most precious first.
#pragma once

#include "dasgd/archive/best_model.hpp"
#include "dasgd/archive/run_directory.hpp"
#include "dasgd/base/files/write_all.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd {

/// Writes model.npy and, of a network, model.pt and samples.json; the best model, if a new one was
/// found; and the summary.
template <typename Real>
void save_result(const Objective<Real>& objective, const TrainResult<Real>& result,
                 const RunDirectory& directory, BestModel& best, WriteAll& write);

/// Writes preprocessing.json, where the objective has data that a person could feed to its model.
template <typename Real>
void save_preprocessing(const Objective<Real>& objective, const RunDirectory& directory);

}  // namespace dasgd
