// What look-ahead decides before a gradient, wherever the numbers are: how much each of a worker's
// own recent updates counts.
#pragma once

#include <cstdint>

#include "dasgd/core/look_ahead.hpp"
#include "dasgd/core/missing_updates.hpp"

namespace dasgd {

/// How far a mean direction stands out of the noise. Two directions of one worker far enough apart
/// have different samples and almost the same mean: the mean of their inner products estimates the
/// square of that, the mean of their squares has the noise as well.
class Signal {
 public:
  void add(double product, double square);
  /// |mean|^2 / noise; infinite as long as nothing is known.
  double ratio() const;

 private:
  double pairs_ = 0, products_ = 0, squares_ = 0;
};

/// Owned by one thread, like the worker.
class LookAheadPlan {
 public:
  /// `averaged`: a direction has the noise of a mean of so many gradients, see Recipe.
  LookAheadPlan(WorkerId self, LookAhead how, double averaged);

  bool is_off() const { return how_.is_off(); }

  /// Before an own gradient: chooses lambda.
  void begin();
  /// Of an own update in a block of this length and age, see MissingUpdates::weight.
  double weight(double age, double length) const {
    return lambda_ * missing_.weight(age, length, own_);
  }
  /// What share of the way y goes to x and its guesses. For the rest it continues from the last y
  /// by the own update: where windows are long, guesses that are withdrawn at once would return as
  /// echoes. 1 where windows are short or lambda is given.
  double pull() const { return pull_; }
  /// Older own updates count nothing.
  double oldest() const { return missing_.oldest(own_); }

  /// Whether the distance of y from x is asked for, as |x - y| / |x|; `moved` takes it.
  bool measures_gap() const { return own_ % 8 == 0; }
  void moved(double gap) {
    gaps_ += gap;
    ++measured_gaps_;
  }

  /// What happened: a foreign gradient was applied; an own one was made; x was replaced or moved
  /// otherwise when so many own ones had been made.
  void applied(const GradientFacts& gradient) { missing_.applied(gradient, own_); }
  void made() { ++own_; }
  void replaced(std::uint64_t own);
  /// Grows when x is replaced: own updates from before count nothing.
  std::uint64_t generation() const { return generation_; }

  /// Whether the direction of the next own gradient is to be compared, by `signal().add`, with the
  /// last one for which this was so.
  bool compares() const;
  Signal& signal() { return signal_; }

  LookAheadFigures figures() const;

 private:
  double chosen_lambda() const;

  const LookAhead how_;
  const std::uint64_t distance_;  // between two directions that are compared
  MissingUpdates missing_;
  Signal signal_;
  std::uint64_t own_ = 0, measured_gaps_ = 0, generation_ = 0;
  double lambda_ = 0, pull_ = 1;
  double expected_ = 0, gaps_ = 0;  // sums
};

}  // namespace dasgd
