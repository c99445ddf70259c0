#include "dasgd/staleness/loose_staleness.hpp"

namespace dasgd {

std::vector<std::uint64_t> LooseStaleness::apply(GradientName name, const GradientSet& compute_set,
                                                 const GradientSet& before,
                                                 bool something_missing) {
  if (pending_.empty() && !something_missing) return {};
  known_.emplace(name, compute_set);
  for (Pending& pending : pending_)
    if (pending.awaited.contains(name)) visit(pending, name, compute_set);
  if (something_missing) {
    pending_.push_back({before, {name}, {name}, {}});
    visit(pending_.back(), name, compute_set);
  }
  std::vector<std::uint64_t> told;
  std::erase_if(pending_, [&](const Pending& pending) {
    if (!pending.awaited.empty()) return false;
    told.push_back(pending.closure.size() - 1 + pending.absent.size());
    return true;
  });
  if (pending_.empty()) known_.clear();
  return told;
}

void LooseStaleness::visit(Pending& pending, GradientName member, const GradientSet& compute_set) {
  pending.awaited.erase(member);
  pending.before.for_each_range_missing_from(
      compute_set, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t k = first; k < last; ++k) pending.absent.insert({origin, k});
      });
  std::vector<GradientName> fresh;
  compute_set.for_each_range_missing_from(
      pending.before, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t k = first; k < last; ++k)
          if (pending.closure.insert({origin, k}).second) fresh.push_back({origin, k});
      });
  pending.awaited.insert(fresh.begin(), fresh.end());
  for (const GradientName& name : fresh)
    if (const auto known = known_.find(name); known != known_.end())
      visit(pending, name, known->second);
}

}  // namespace dasgd
