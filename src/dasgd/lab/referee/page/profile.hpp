// Performance profiles (Dolan and More 2002), as rliable draws them: everybody over all worlds.
#pragma once

#include <optional>
#include <vector>

#include "dasgd/lab/referee/results.hpp"
#include "dasgd/report/charts/svg_plot.hpp"

namespace dasgd {

/// The share of a rival's runs, of all worlds, whose time to the goal is at most so many times the
/// median of the fastest in its world: the times in ascending order; those that never arrive are
/// not among them.
struct Profile {
  std::string rival;
  bool reference = false;
  std::vector<double> times;
  std::size_t runs = 0;

  double share_within(double times_the_fastest) const;
};
/// One for each rival; a world in which nobody arrives is left out.
std::vector<Profile> profiles_of(const std::vector<JudgedWorld>& worlds);

/// DASGD and the five whose curves are highest; nothing for less than two worlds.
std::optional<PlotPanel> profile_panel(const std::vector<JudgedWorld>& worlds);

}  // namespace dasgd
