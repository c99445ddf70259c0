#include "dasgd/staleness/causal_weights.hpp"

#include <algorithm>

namespace dasgd {

void CausalWeights::apply(const GradientFacts& gradient, std::uint64_t staleness) {
  if (staleness > 0 && !note_the_last(gradient, staleness))
    look_back(staleness, gradient.compute_set);
  std::uint64_t& last = last_of_[index(gradient.name.origin)];
  applied_.push_back({.name = gradient.name, .earlier = noted_, .previous = last});
  last = gone_ + applied_.size();
  if (known_.note(gradient.name.origin, gradient.compute_set)) forget();
}

bool CausalWeights::note_the_last(const GradientFacts& gradient, std::uint64_t staleness) {
  if (staleness > applied_.size()) return false;
  // An origin knows its own: they stand among the last ones, which are so many more.
  std::uint64_t from = gone_ + applied_.size() - staleness;
  const std::uint64_t newest = last_of_[index(gradient.name.origin)];
  std::uint64_t own = newest;
  for (; own > from && own > gone_; own = applied_[own - 1 - gone_].previous)
    if (from-- == gone_) return false;
  const auto place = static_cast<std::size_t>(from - gone_);
  if (!has_all_before(place, gradient.compute_set)) return false;
  applied_[place].from += staleness;
  noted_ += staleness;
  for (own = newest; own > from && own > gone_; own = applied_[own - 1 - gone_].previous)
    applied_[own - 1 - gone_].single -= staleness;  // wraps: the sum does not
  return true;
}

bool CausalWeights::has_all_before(std::size_t place, const GradientSet& knows) {
  move_boundary(place);
  const auto& prefixes = knows.prefixes();
  const std::size_t told = std::min(before_.size(), prefixes.size());
  std::uint32_t lacks = 0;  // without a branch, so that several are compared at once
  for (std::size_t o = 0; o < told; ++o) lacks |= before_[o] > prefixes[o] ? 1u : 0u;
  for (std::size_t o = told; o < before_.size(); ++o) lacks |= before_[o];
  return lacks == 0;
}

// Gradients of one origin are applied in their order, so that a name says how many came before.
void CausalWeights::move_boundary(std::size_t to) {
  for (; boundary_ < to; ++boundary_) {
    const GradientName name = applied_[boundary_].name;
    before_[index(name.origin)] = name.sequence + 1;
  }
  for (; boundary_ > to; --boundary_) {
    const GradientName name = applied_[boundary_ - 1].name;
    before_[index(name.origin)] = name.sequence;
  }
}

void CausalWeights::look_back(std::uint64_t staleness, const GradientSet& knows) {
  const bool has_gaps = !knows.exceptions().empty();
  Applied* at = applied_.data() + applied_.size();
  for (std::uint64_t left = staleness; left > 0 && at != applied_.data();) {
    --at;
    if (at->name.sequence < knows.prefix(at->name.origin)) continue;
    if (has_gaps && knows.contains(at->name)) continue;
    at->single += staleness;
    --left;
  }
}

template <typename Visit>
void CausalWeights::for_each_weight(Visit&& visit) const {
  std::uint64_t noted = forgotten_;
  for (const Applied& applied : applied_) {
    noted += applied.from;
    visit(applied, applied.single + noted - applied.earlier);
  }
}

std::uint64_t CausalWeights::largest() const {
  std::uint64_t largest = largest_;
  for_each_weight([&](const Applied&, std::uint64_t w) { largest = std::max(largest, w); });
  return largest;
}

std::vector<CausalWeights::Weighed> CausalWeights::kept() const {
  std::vector<Weighed> all;
  for_each_weight([&](const Applied& applied, std::uint64_t w) {
    all.push_back({applied.name, w});
  });
  return all;
}

void CausalWeights::forget() {
  const auto may_be_missing = [this](const Applied& applied) {
    return applied.name.sequence >= known_.prefix(applied.name.origin);
  };
  const auto end = std::find_if(applied_.begin(), applied_.end(), may_be_missing);
  const auto count = static_cast<std::size_t>(end - applied_.begin());
  largest_ = largest();
  for (auto at = applied_.begin(); at != end; ++at) forgotten_ += at->from;
  move_boundary(std::max(boundary_, count));
  boundary_ -= count;
  gone_ += count;
  applied_.erase(applied_.begin(), end);
}

}  // namespace dasgd
