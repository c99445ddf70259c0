#include "dasgd/staleness/virtual_sequence.hpp"

#include <algorithm>

namespace dasgd {

std::optional<VirtualSequence> virtual_sequence(const std::vector<TraceLine>& trace) {
  std::vector<const TraceLine*> own;
  for (const TraceLine& a : trace)
    if (a.worker == a.name.origin) own.push_back(&a);
  if (own.empty() || !std::ranges::all_of(own, [](auto* a) { return a->start.has_value(); }))
    return std::nullopt;
  // Of two that began at the same instant the one that ended first comes first.
  std::ranges::stable_sort(own, {}, [](auto* a) { return std::pair(*a->start, a->time); });
  VirtualSequence result;
  const auto count = static_cast<double>(own.size());
  for (std::uint64_t m = 0; m < own.size(); ++m) {
    if (own[m]->origin_step > m) return std::nullopt;
    const std::uint64_t R = m - own[m]->origin_step;
    result.max = std::max(result.max, R);
    result.mean += static_cast<double>(R);
    result.mean_square += static_cast<double>(R) * static_cast<double>(R);
  }
  result.mean /= count;  // sums of whole numbers, so rounded once
  result.mean_square /= count;
  return result;
}

}  // namespace dasgd
