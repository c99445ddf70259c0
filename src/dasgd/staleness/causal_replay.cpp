#include "dasgd/staleness/causal_replay.hpp"

#include <algorithm>

namespace dasgd {

CausalReplay::CausalReplay(const TraceIndex& index, std::size_t i) : index_(index), i_(i) {
  for (std::uint32_t t = 0; holds_ && t < index.order(i).size(); ++t) holds_ = add(t);
}

CausalReplay::FromOrigin& CausalReplay::from(std::size_t origin) {
  const auto [at, is_new] = place_.try_emplace(origin, from_.size());
  if (is_new) from_.push_back({.origin = origin});
  return from_[at->second];
}

bool CausalReplay::add(std::uint32_t t) {
  const TraceIndex::Number g = index_.order(i_)[t];
  const std::size_t j = index_.origin(g);
  const std::uint32_t s = index_.origin_step(g);
  FromOrigin& from = this->from(j);
  const auto& there = index_.order(j);
  while (from.missing_from < s && index_.position(i_, there[from.missing_from]) < t)
    ++from.missing_from;
  if (from.missing_from < s || (!from.s.empty() && from.s.back() > s)) return false;
  from.t.push_back(t);
  from.s.push_back(s);
  from.sums.push_back(from.sums.back() + (t - s));
  S_.push_back(t - s);
  sum_ += t - s;
  return true;
}

bool CausalReplay::saves_time() const { return sum_ > 4 * S_.size() * from_.size(); }

std::uint64_t CausalReplay::W() const {
  std::uint64_t largest = 0;
  for (std::uint32_t p = 0; p < S_.size(); ++p) {
    const TraceIndex::Number h = index_.order(i_)[p];
    std::uint64_t weight = 0;
    for (const FromOrigin& from : from_) {
      const auto first = std::upper_bound(from.t.begin(), from.t.end(), p) - from.t.begin();
      const auto last =
          std::upper_bound(from.s.begin(), from.s.end(), index_.position(from.origin, h)) -
          from.s.begin();
      if (first < last)
        weight +=
            from.sums[static_cast<std::size_t>(last)] - from.sums[static_cast<std::size_t>(first)];
    }
    largest = std::max(largest, weight);
  }
  return largest;
}

}  // namespace dasgd
