#include "dasgd/staleness/causal_weights.hpp"

#include <algorithm>

namespace dasgd {

void CausalWeights::apply(const GradientFacts& gradient, std::uint64_t staleness) {
  const GradientSet& knows = gradient.compute_set;
  const bool has_gaps = !knows.exceptions().empty();
  Applied* at = applied_.data() + applied_.size();
  for (std::uint64_t left = staleness; left > 0 && at != applied_.data();) {
    --at;
    if (at->name.sequence < knows.prefix(at->name.origin)) continue;
    if (has_gaps && knows.contains(at->name)) continue;
    largest_ = std::max(largest_, at->weight += staleness);
    --left;
  }
  applied_.push_back({gradient.name});
  if (known_.note(gradient.name.origin, knows)) forget();
}

void CausalWeights::forget() {
  const auto may_be_missing = [this](const Applied& applied) {
    return applied.name.sequence >= known_.prefix(applied.name.origin);
  };
  applied_.erase(applied_.begin(), std::find_if(applied_.begin(), applied_.end(), may_be_missing));
}

}  // namespace dasgd
