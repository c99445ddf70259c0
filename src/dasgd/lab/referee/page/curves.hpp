// Loss and accuracy of a comparison over time, gradients and bytes.
#pragma once

#include <vector>

#include "dasgd/lab/referee/page/pictures.hpp"

namespace dasgd {

/// The colour and the marker of a method, by its place among the rivals: the same in every picture.
void dress(PlotSeries& series, std::size_t rival);

/// The median over the seeds at every look, a band from the smallest to the largest, and the goal
/// as a line. A line ends where half of the runs have ended. Accuracy only where it was looked at.
std::vector<ComparePicture> curves_of(const Contest& contest, const JudgedWorld& world,
                                      std::size_t number);

}  // namespace dasgd
