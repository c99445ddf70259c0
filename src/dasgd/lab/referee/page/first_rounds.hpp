// The first gradients of everybody as time lines.
#pragma once

#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/results.hpp"
#include "dasgd/lab/rivals/play.hpp"

namespace dasgd {

/// What the workers of one rival compute in the beginning of a run.
struct FirstRounds {
  std::string rival;
  std::size_t place = 0;  ///< among the rivals, for its colour
  std::vector<ComputedSpan> spans;
};

/// Plays the first gradients of `rivals`, places in the world's rows, in virtual time.
template <typename Real>
std::vector<FirstRounds> first_rounds(const Objective<Real>& objective, const Contest& contest,
                                      const ContestWorld& world, const JudgedWorld& judged,
                                      const std::vector<std::size_t>& rivals);

/// A line per worker, a bar per gradient in the colour of the rival, pale where it was wasted,
/// nothing where a worker waits. SVG of that width, see Drawing.
std::string time_lines(const std::string& title, const std::vector<FirstRounds>& all,
                       std::size_t workers, double width = 0);

}  // namespace dasgd
