#include "dasgd/staleness/loose_staleness.hpp"

#include <utility>

namespace dasgd {

std::vector<std::uint64_t> LooseStaleness::apply(GradientName name, const GradientSet& compute_set,
                                                 const GradientSet& before,
                                                 bool something_missing) {
  std::vector<std::uint64_t> told;
  if (pending_.empty() && !something_missing) return told;
  known_.emplace(name, compute_set);
  const auto [first, last] = pending_.equal_range(name);
  std::vector<Pending> woken;
  for (auto at = first; at != last; ++at) woken.push_back(std::move(at->second));
  pending_.erase(first, last);
  for (Pending& pending : woken) settle(std::move(pending), told);
  if (something_missing) {
    Pending pending{before, before, before, {}};
    pending.reached.unite(compute_set);
    pending.common.intersect(compute_set);
    settle(std::move(pending), told);
  }
  if (pending_.empty()) known_.clear();
  return told;
}

void LooseStaleness::settle(Pending pending, std::vector<std::uint64_t>& told) {
  if (const auto awaited = advance(pending)) {
    pending_.emplace(*awaited, std::move(pending));
  } else {
    told.push_back(pending.reached.size() - pending.common.size());
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
        pending.reached.unite(known->second);
        pending.common.intersect(known->second);
        grown = true;
      }
    }
  }
  return std::nullopt;
}

}  // namespace dasgd
