// Finds the step size of a rival in a world: equal budgets for everybody.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

/// Runs one step size with one of the tuning seeds; a run that takes longer than `most` is of no
/// interest and may be ended there.
using TryStep =
    std::function<ContestRun(double eta, std::size_t seed, std::optional<Nanoseconds> most)>;

/// The steps are tried from the middle outwards, each with every tuning seed. A run is given a
/// multiple of the best median so far: twice is enough to see how wide the good range is. Beyond a
/// step that does not reach the goal in that time no further one is tried on that side of the best.
/// While the best is the last of the grid, the grid grows; if it still is, the row says so. While
/// no step reaches the goal, the grid grows downwards; if none does, that which ends nearest to it
/// is the best.
void tune(const Tuning& tuning, const Goal& goal, double middle, const TryStep& try_step,
          ContestRow& row);

/// Runs one value of a rival's own number at the step that was found.
using TryNumber =
    std::function<ContestRun(double number, std::size_t seed, std::optional<Nanoseconds> most)>;

/// A rival's own number (R, B, K, H, ...) has the points that the steps left of their budget, and
/// `further` at least: its author's default, with which the steps were tried, times 4 or else by 4,
/// until two values in a row are no better (one alone may lie between two good ones); then the best
/// of these doubled and halved. Returns the best.
double tune_number(const Tuning& tuning, const Goal& goal, const RivalParameter& parameter,
                   double usual, const TryNumber& try_number, ContestRow& row);

/// Whether most trials of some step reached the goal.
bool reached_in_tuning(const ContestRow& row);

/// From the smallest to the largest step whose median is at most twice the best; 0 and 0 where none
/// reaches the goal.
std::pair<double, double> good_range(const std::vector<Trial>& trials);

/// After which time the runs that count are ended in a world, whose rows these are: the same for
/// all of them, and the world's own end where nobody was tuned to the goal.
Nanoseconds time_given(const Contest& contest, const ContestWorld& world,
                       std::span<const ContestRow> rows);

/// Why the step that tuning left is not to be relied on: it is the last of those that were tried,
/// or none of them reached the goal. Empty otherwise.
std::string tuning_flaw(const ContestRow& row);

double median_of(std::vector<double> values);

}  // namespace dasgd
