#include "dasgd/record/summary_check.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace dasgd {

std::vector<Violation> contradictions(const TraceCheck& check, const nlohmann::json& summary) {
  std::vector<Violation> found;
  const auto differ = [&](const std::string& what) {
    found.push_back({.line = check.events.size(), .what = what, .of_whole_trace = true});
  };
  if (!summary.is_object()) {
    differ("summary.json cannot be read");
    return found;
  }
  if (const auto made = summary.find("gradients_by_worker");
      made != summary.end() && made->is_array())
    for (std::size_t i = 0; i < std::max(made->size(), check.gradients_by_worker.size()); ++i) {
      const nlohmann::json stored = i < made->size() ? (*made)[i] : nlohmann::json(0);
      const auto has = i < check.gradients_by_worker.size() ? check.gradients_by_worker[i] : 0;
      if (stored != has)
        differ(fmt::format("the trace has {} gradients of worker {}, summary.json says {}", has, i,
                           stored.dump()));
    }
  const auto compare = [&](const char* key, double value) {
    const auto stored = summary.find(key);
    if (check.events.empty() || stored == summary.end() || !stored->is_number()) return;
    if (std::abs(stored->get<double>() - value) > 1e-9 * std::abs(value))
      differ(
          fmt::format("{} of the trace is {}, summary.json says {}", key, value, stored->dump()));
  };
  compare("S_avg", check.staleness.S_avg);
  compare("S_max", static_cast<double>(check.staleness.S_max));
  compare("S_hat_avg", check.staleness.S_hat_avg);
  compare("S_hat_max", static_cast<double>(check.staleness.S_hat_max));
  return found;
}

}  // namespace dasgd
