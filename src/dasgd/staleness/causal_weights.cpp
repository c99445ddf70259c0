#include "dasgd/staleness/causal_weights.hpp"

#include <algorithm>
#include <span>

#include "dasgd/staleness/prefixes.hpp"

namespace dasgd {

void CausalWeights::apply(const GradientFacts& gradient, std::uint64_t staleness) {
  if (staleness > 0 && !note_the_last(gradient, staleness))
    look_back(staleness, gradient.compute_set);
  append(gradient.name);
  if (applied_.size() >= forget_at_ && known_.note(gradient.name.origin, gradient.compute_set))
    forget();
}

void CausalWeights::append(GradientName name) {
  Own& own = own_[index(name.origin)];
  const Place place = gone_ + applied_.size();
  (own.count++ == 0 ? own.first : at(own.last).next_own) = place;
  own.last = place;
  applied_.push_back({.name = name, .earlier = noted_ - own.noted});
}

// An origin knows its own: they stand among the last ones, which are so many more. The first of the
// last ones is not an own one.
bool CausalWeights::note_the_last(const GradientFacts& gradient, std::uint64_t staleness) {
  Own& own = own_[index(gradient.name.origin)];
  const Place end = gone_ + applied_.size();
  while (own.count > 0 && own.first + staleness + own.count <= end) skip_first(own);
  if (gone_ + staleness + own.count > end) return false;
  const Place place = end - staleness - own.count;
  if (!has_all_before(place, gradient.compute_set)) return false;
  at(place).from += staleness;
  noted_ += staleness;
  if (own.count > 0) {
    at(own.first).own_from += staleness;
    own.noted += staleness;
  }
  return true;
}

void CausalWeights::skip_first(Own& own) {
  own.first = at(own.first).next_own;
  --own.count;
}

bool CausalWeights::has_all_before(Place place, const GradientSet& knows) {
  move_boundary(place);
  const auto& prefixes = knows.prefixes();
  const std::size_t known = std::min(before_.size(), prefixes.size());
  const auto is_some = [](std::uint32_t count) { return count > 0; };
  return !any_beyond(std::span(before_).first(known), std::span(prefixes).first(known)) &&
         std::none_of(before_.begin() + static_cast<std::ptrdiff_t>(known), before_.end(), is_some);
}

// Gradients of one origin are applied in their order, so that a name says how many came before.
void CausalWeights::move_boundary(Place to) {
  for (; boundary_ < to; ++boundary_) {
    const GradientName name = at(boundary_).name;
    before_[index(name.origin)] = name.sequence + 1;
  }
  for (; boundary_ > to; --boundary_) {
    const GradientName name = at(boundary_ - 1).name;
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
    at->earlier -= staleness;
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
    visit(applied, noted - own - applied.earlier);
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

// Nothing is noted any more for what all know.
void CausalWeights::forget() {
  const auto is_known = [this](const Applied& applied) {
    return applied.name.sequence < known_.prefix(applied.name.origin);
  };
  auto end = applied_.begin();
  for (; end != applied_.end() && is_known(*end); ++end) {
    Own& own = own_[index(end->name.origin)];
    forgotten_ += end->from;
    own.forgotten += end->own_from;
    largest_ = std::max(largest_, forgotten_ - own.forgotten - end->earlier);
    if (own.count > 0 && own.first == gone_ + static_cast<Place>(end - applied_.begin()))
      skip_first(own);
  }
  const auto count = static_cast<Place>(end - applied_.begin());
  move_boundary(std::max(boundary_, gone_ + count));
  applied_.erase(applied_.begin(), end);
  gone_ += count;
  forget_at_ = 2 * applied_.size();
}

}  // namespace dasgd
