#include "dasgd/staleness/loose_staleness.hpp"

#include <algorithm>

namespace dasgd {

std::vector<std::uint64_t> LooseStaleness::apply(GradientName name, const GradientSet& compute_set,
                                                 const GradientSet& before,
                                                 bool something_missing) {
  if (pending_.empty() && !something_missing) return {};
  known_.push_back({before.size(), name, compute_set});
  for (Pending& pending : pending_) {
    if (std::erase(pending.awaited, name) == 0) continue;
    visit(pending, compute_set);
    visit_known(pending);
  }
  if (something_missing) {
    pending_.push_back({before.size(), before, before, before, {}});
    visit(pending_.back(), compute_set);
  }
  std::vector<std::uint64_t> told;
  std::erase_if(pending_, [&](const Pending& pending) {
    if (!pending.awaited.empty()) return false;
    told.push_back(pending.reached.size() - pending.common.size());
    return true;
  });
  const std::uint64_t oldest = pending_.empty() ? before.size() + 1 : pending_.front().t;
  while (!known_.empty() && known_.front().t < oldest) known_.pop_front();
  return told;
}

void LooseStaleness::visit(Pending& pending, const GradientSet& compute_set) {
  pending.common.intersect(compute_set);
  compute_set.for_each_range_missing_from(
      pending.reached, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t k = first; k < last; ++k) pending.awaited.push_back({origin, k});
      });
  for (const GradientName& name : pending.awaited) pending.reached.insert(name);
}

// What is awaited may have arrived between the pending application and now.
void LooseStaleness::visit_known(Pending& pending) {
  for (bool found = true; found;) {
    found = false;
    for (const Known& known : known_) {
      if (std::erase(pending.awaited, known.name) == 0) continue;
      visit(pending, known.compute_set);
      found = true;
    }
  }
}

}  // namespace dasgd
