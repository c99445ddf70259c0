// A plan as people and programs read it.
#pragma once

#include <functional>
#include <string>

#include "dasgd/lab/planner/plan.hpp"

namespace dasgd {

/// The table, one line for each row.
std::string table_of(const Plan& plan);

/// The recommended settings of DASGD as they are to be pasted.
using ToFlags = std::function<std::string(const Exchange&)>;

/// "recommended: FLAGS", and how that does beside rivals.
std::string recommendation_of(const Plan& plan, const ToFlags& to_flags);

/// A JSON object: `network`, `rows`, `recommended`.
std::string to_json(const Plan& plan, const NetworkCase& network, const std::string& simulated_with,
                    const ToFlags& to_flags);

}  // namespace dasgd
