// The best model of a run on disk: model.best.npy, of a network model.best.pt, and what is known of
// it in model.best.json.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "dasgd/core/objective.hpp"
#include "dasgd/record/evaluation.hpp"

namespace dasgd {

/// {"seconds", "accuracy", "eval_loss"}, what there is of them.
std::string to_json(const Evaluation& evaluation);

/// Keeps the files in step with the best evaluation.
class BestModel {
 public:
  /// Takes up what an earlier leg left in the directory, if `resumed`; else it is removed.
  BestModel(const std::string& directory, bool resumed);

  const std::optional<Evaluation>& known() const { return known_; }

  /// Writes a new best, unless it is the one that is there. Throws WriteError.
  template <typename Real>
  void write(const Objective<Real>& objective, const Evaluation& evaluation,
             std::span<const Real> model);

 private:
  const std::string path_;  // without its ending
  std::optional<Evaluation> known_;
};

}  // namespace dasgd
