// What a run leaves behind when it ends, the most precious first.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "dasgd/archive/best_model.hpp"
#include "dasgd/archive/run_directory.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/plan/result.hpp"

namespace dasgd {

/// Writes files one after the other, whatever fails; what failed is told at the end.
class Salvage {
 public:
  template <typename Action>
  void save(const std::string& file, Action&& action) {
    try {
      action();
    } catch (const std::exception& error) {
      if (missing_.empty()) why_ = error.what();
      missing_.push_back(file);
    }
  }
  /// Throws WriteError if anything is missing: the first reason, and what else there is not.
  void finish() const;

 private:
  std::string why_;
  std::vector<std::string> missing_;
};

/// Saves model.npy and, of a network, model.pt; the best model, if a new one was found; and the
/// summary.
template <typename Real>
void save_result(const Objective<Real>& objective, const TrainResult<Real>& result,
                 const RunDirectory& directory, BestModel& best, Salvage& salvage);

}  // namespace dasgd
