// Mean and spread of numbers that come one by one or in groups.
#pragma once

namespace dasgd {

/// Of numbers that are all the same, `squares` is 0 exactly.
struct Moments {
  double count = 0, mean = 0, squares = 0;  ///< squares: summed, of what is beside the mean

  void add(const Moments& other) {
    if (other.count == 0) return;
    const double all = count + other.count, step = other.mean - mean;
    squares += other.squares + step * step * count * other.count / all;
    mean += step * other.count / all;
    count = all;
  }
  void add(double number) { add({1, number, 0}); }
  double variance() const { return count > 0 ? squares / count : 0; }
};

}  // namespace dasgd
