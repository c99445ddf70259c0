// What can be said of a comparison, and how sure it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

struct Interval {
  double low = 0, high = 0;
};

/// One rival in one world, judged.
struct Judgement {
  bool reference = false;  ///< what the others are compared with: the first row of DASGD
  double median = 0;       ///< time to the goal; infinite where most runs did not reach it
  Interval interval;       ///< 95 %, by bootstrap over the seeds
  /// Time against DASGD's with the same seeds: median, 95 % interval. Nothing without DASGD, or
  /// where one of the two did not reach the goal.
  std::optional<double> ratio;
  std::optional<Interval> ratio_interval;
  std::size_t wins = 0;     ///< seeds with which it was faster than DASGD
  std::optional<double> p;  ///< after Holm, over the rivals of the world
  std::string verdict;      ///< faster, slower, no difference shown, not reached, not tuned
};

/// Judges the rows of one world. A difference is shown where the paired test on the logarithms of
/// the ratios holds at 5 % after Holm's correction, the interval does not contain 1, and the
/// medians are further apart than one look, `every` seconds, can resolve.
std::vector<Judgement> judge(const std::vector<ContestRow>& rows, std::uint64_t seed,
                             double every = 0);

/// Who wins a world, in one plain sentence.
struct WorldVerdict {
  std::string world;
  std::string winner;  ///< the label of a rival; empty: none reached the goal
  bool shown = false;  ///< that it is faster than the next one
  bool dasgd_loses = false;
  std::string sentence;
};
WorldVerdict sum_up(const std::string& world, const std::vector<ContestRow>& rows,
                    const std::vector<Judgement>& judgements, double every = 0);

/// The 95 % interval of the median by the bootstrap.
Interval bootstrap_median(const std::vector<double>& values, std::uint64_t seed);
/// Two-sided p of a paired t test that the mean is 0.
double paired_p(const std::vector<double>& differences);
/// Holm's correction, in the order of the arguments.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace dasgd
