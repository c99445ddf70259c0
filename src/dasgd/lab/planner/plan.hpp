// Which relay, message format and look-ahead suit a network: by simulation in virtual time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/planner/network_case.hpp"

namespace dasgd {

/// The settings of DASGD as the rows of a plan have them.
struct Exchange {
  std::string relay = "mesh";  ///< or tree:K
  std::string message = "full", look_ahead = "auto";

  /// As a rival of `dasgd compare`.
  std::string way() const;
};

struct PlannedRow {
  std::optional<Exchange> exchange;  ///< nothing: a rival
  NetworkRow row;

  /// "tree:4, int8, look-ahead auto", or the rival.
  std::string name() const;
};

/// Rows in a fixed order: full messages before few bits, the mesh before trees, rivals last.
struct Plan {
  std::vector<PlannedRow> rows;
  std::optional<std::size_t> recommended;  ///< nothing: no setting of DASGD was simulated
};

/// Below this a difference counts as none.
inline constexpr double plan_tie = 0.05;

/// Called before each simulation with how many are done and how many there are.
using PlanProgress =
    std::function<void(std::size_t done, std::size_t total, const std::string& name)>;

/// Simulates relay x message with look-ahead, the best of them without, minibatch (all-reduce) and
/// DiLoCo, everybody with plain SGD steps and a step size of its own. Of the settings that are
/// within `plan_tie` of the best the first row is recommended.
template <typename Real>
Plan plan_network(const Objective<Real>& objective, const NetworkCase& network, const Goal& goal,
                  const NetworkEffort& effort, const PlanProgress& progress);

/// The first of the rows of DASGD that is within `plan_tie` of the best.
std::optional<std::size_t> recommended_row(const std::vector<PlannedRow>& rows);

/// The effort that takes about ten seconds.
NetworkEffort effort_of_a_plan(std::size_t workers);

}  // namespace dasgd
