#include "dasgd/staleness/causal_weights.hpp"

#include <algorithm>

namespace dasgd {

void CausalWeights::apply(const GradientFacts& gradient, std::uint64_t staleness) {
  if (staleness > 0 && !note_the_last(gradient, staleness))
    look_back(staleness, gradient.compute_set);
  Own& own = own_[index(gradient.name.origin)];
  own.places.push_back(gone_ + applied_.size());
  applied_.push_back({.name = gradient.name, .earlier = noted_, .own_earlier = own.noted});
  if (known_.note(gradient.name.origin, gradient.compute_set)) forget();
}

bool CausalWeights::note_the_last(const GradientFacts& gradient, std::uint64_t staleness) {
  if (staleness > applied_.size()) return false;
  // An origin knows its own: they stand among the last ones, which are so many more.
  Own& own = own_[index(gradient.name.origin)];
  const std::uint64_t without_own = gone_ + applied_.size() - staleness;
  const std::size_t owns = own_among_last(own, without_own);
  if (without_own < gone_ + owns) return false;
  const auto place = static_cast<std::size_t>(without_own - owns - gone_);
  if (!has_all_before(place, gradient.compute_set)) return false;
  applied_[place].from += staleness;
  noted_ += staleness;
  if (owns > 0) {
    applied_[own.places[own.places.size() - owns] - gone_].own_from += staleness;
    own.noted += staleness;
  }
  return true;
}

// The last ones begin at `without_own` and one earlier for each of the origin's among them. Looks
// back in steps that double: mostly there are few, but behind a worker that was away there are as
// many as it missed.
std::size_t CausalWeights::own_among_last(const Own& own, std::uint64_t without_own) {
  const std::size_t all = own.places.size();
  const auto is_among = [&](std::size_t back) {
    return own.places[all - 1 - back] + back >= without_own;
  };
  const std::size_t most = all - own.gone;
  std::size_t among = 0, step = 1;
  while (among + step <= most && is_among(among + step - 1)) among += step, step *= 2;
  for (; step > 0; step /= 2)
    if (among + step <= most && is_among(among + step - 1)) among += step;
  return among;
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
  std::vector<std::uint64_t> own_noted;
  for (const Own& own : own_) own_noted.push_back(own.forgotten);
  for (const Applied& applied : applied_) {
    std::uint64_t& own = own_noted[index(applied.name.origin)];
    noted += applied.from;
    own += applied.own_from;
    visit(applied, applied.single + (noted - applied.earlier) - (own - applied.own_earlier));
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

void CausalWeights::Own::forget_the_first(std::uint64_t own_from) {
  forgotten += own_from;
  if (2 * ++gone < places.size()) return;
  places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(gone));
  gone = 0;
}

void CausalWeights::forget() {
  const auto may_be_missing = [this](const Applied& applied) {
    return applied.name.sequence >= known_.prefix(applied.name.origin);
  };
  const auto end = std::find_if(applied_.begin(), applied_.end(), may_be_missing);
  const auto count = static_cast<std::size_t>(end - applied_.begin());
  largest_ = largest();
  for (auto at = applied_.begin(); at != end; ++at) {
    forgotten_ += at->from;
    own_[index(at->name.origin)].forget_the_first(at->own_from);
  }
  move_boundary(std::max(boundary_, count));
  boundary_ -= count;
  gone_ += count;
  applied_.erase(applied_.begin(), end);
}

}  // namespace dasgd
