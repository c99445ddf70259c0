// How fast workers are against each other, where they are not equal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dasgd {

/// Speeds as they were asked for: drawn for every worker, or listed in a file.
class Speeds {
 public:
  /// "lognormal:SIGMA": times per gradient are lognormal around the usual one, and so are speeds;
  /// "pareto:ALPHA": at least the usual time, with a tail, the heavier the smaller ALPHA; anything
  /// else is the path of a file with a speed for each worker, 2 for one that is twice as fast.
  /// Throws InputError.
  static Speeds parse(const std::string& text);

  const std::string& text() const { return text_; }
  bool are_drawn() const { return kind_ != Kind::listed; }

  /// For each worker, how many times as long as usual its gradients take. A worker's own depends on
  /// the seed and its number alone, not on how many there are. Throws InputError for a file that
  /// has fewer.
  std::vector<double> time_factors(std::size_t workers, std::uint64_t seed) const;

 private:
  enum class Kind { lognormal, pareto, listed };
  std::string text_;
  Kind kind_ = Kind::listed;
  double parameter_ = 0;
  std::vector<double> listed_;
};

}  // namespace dasgd
