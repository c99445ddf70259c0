// A model judged while a run goes.
#pragma once

#include <optional>

namespace dasgd {

struct Evaluation {
  double seconds = 0;  ///< when the model was taken, from the start of the run
  std::optional<double> accuracy, loss;

  /// By accuracy where there is one, else by loss.
  bool better_than(const Evaluation& other) const {
    if (accuracy && other.accuracy) return *accuracy > *other.accuracy;
    if (loss && other.loss) return *loss < *other.loss;
    return false;
  }
};

}  // namespace dasgd
