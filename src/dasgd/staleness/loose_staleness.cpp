#include "dasgd/staleness/loose_staleness.hpp"

#include <utility>

namespace dasgd {

std::vector<std::uint64_t> LooseStaleness::apply(GradientName name, const GradientSet& compute_set,
                                                 const GradientSet& before,
                                                 bool something_missing) {
  std::vector<std::uint64_t> settled;
  ++applied_;
  if (pending_.empty() && !something_missing) return settled;
  remember(name, compute_set);
  const auto [first, last] = pending_.equal_range(name);
  std::vector<Pending> woken;
  for (auto at = first; at != last; ++at) woken.push_back(std::move(at->second));
  pending_.erase(first, last);
  for (Pending& pending : woken) settle(std::move(pending), settled);
  if (something_missing) {
    Pending pending{before, before, before, {}, applied_};
    open_.insert(applied_);
    pending.reached.unite(compute_set);
    pending.common.intersect(compute_set);
    settle(std::move(pending), settled);
  }
  return settled;
}

// Forgets what was applied before the oldest pending one: that belongs to the state, not to C.
void LooseStaleness::remember(GradientName name, const GradientSet& compute_set) {
  const std::uint64_t oldest = open_.empty() ? applied_ : *open_.begin();
  for (; !in_order_.empty(); in_order_.pop_front()) {
    const auto first = known_.find(in_order_.front());
    if (first->second.number >= oldest) break;
    known_.erase(first);
  }
  if (known_.emplace(name, Known{compute_set, applied_}).second) in_order_.push_back(name);
}

void LooseStaleness::settle(Pending pending, std::vector<std::uint64_t>& settled) {
  if (const auto awaited = advance(pending)) {
    pending_.emplace(*awaited, std::move(pending));
  } else {
    settled.push_back(pending.reached.size() - pending.common.size());
    open_.erase(open_.find(pending.since));
  }
}

std::optional<GradientName> LooseStaleness::advance(Pending& pending) const {
  for (bool grown = true; grown;) {
    grown = false;
    std::vector<NameRange> ends;  // per origin, its first and last in C
    pending.reached.for_each_range_missing_from(
        pending.before, [&](WorkerId origin, std::uint32_t from, std::uint32_t to) {
          if (ends.empty() || ends.back().origin != origin) {
            ends.push_back({origin, from, to - 1});
          } else {
            ends.back().last = to - 1;
          }
        });
    for (const NameRange& end : ends) {
      for (const std::uint32_t sequence : {end.last, end.first}) {
        const GradientName name{end.origin, sequence};
        if (pending.seen.contains(name)) continue;
        const auto known = known_.find(name);
        if (known == known_.end()) return name;
        pending.seen.insert(name);
        pending.reached.unite(known->second.compute_set);
        pending.common.intersect(known->second.compute_set);
        grown = true;
      }
    }
  }
  return std::nullopt;
}

}  // namespace dasgd
