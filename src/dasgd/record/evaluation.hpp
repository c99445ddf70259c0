// A model judged while a run goes.
#pragma once

#include <cmath>
#include <optional>

namespace dasgd {

struct Evaluation {
  double seconds = 0;  ///< when the model was taken, from the start of the run
  std::optional<double> accuracy, loss;

  /// By accuracy where there is one, else by loss. Nothing is worse than what is not finite.
  bool better_than(const Evaluation& other) const {
    const auto above = [](double a, double b) { return std::isfinite(a) && !(a <= b); };
    if (accuracy && other.accuracy) return above(*accuracy, *other.accuracy);
    if (loss && other.loss) return above(-*loss, -*other.loss);
    return false;
  }
};

}  // namespace dasgd
