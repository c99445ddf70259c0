// What a graph does to staleness: the paper's section 4.1, "Network topology", simulated beside its
// formulas and the exact ones (theory/expected_staleness.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/experiments/progress.hpp"
#include "dasgd/theory/expected_staleness.hpp"

namespace dasgd {

struct TopologyPlan {
  std::vector<std::size_t> workers;  ///< empty: 2 .. 25
  std::uint32_t gradients = 100;     ///< per worker
  unsigned threads = 2;              ///< simulations at a time
};

/// One simulated run: compute 1 ms, latency 10 us or 0, apply 1 ns.
struct TopologyRun {
  std::string regime;    ///< "ring, relay on application"
  std::string topology;  ///< "ring", "torus:2x3"
  std::size_t workers = 0;
  double S_avg = 0;  ///< simulated
  std::uint64_t S_max = 0;
  double exact_S_avg = 0;  ///< for this number of gradients
  theory::ExpectedStaleness exact;
  std::optional<theory::ExpectedStaleness> published;  ///< where the paper has a figure

  /// Whether the sum of |S| and the maximum are as computed, to the last integer.
  bool agrees() const { return S_avg == exact_S_avg && static_cast<double>(S_max) == exact.S_max; }
};

/// Every regime for every number of workers it exists for; a torus in all its shapes.
std::vector<TopologyRun> run_topologies(const TopologyPlan& plan, const DoneSoFar& progress);

std::string to_csv(const std::vector<TopologyRun>& runs);
std::string to_json(const std::vector<TopologyRun>& runs);
/// S_avg above, S_max below: dots are simulated, lines are exact, dashes are the paper's.
std::string to_svg(const std::vector<TopologyRun>& runs);

}  // namespace dasgd
