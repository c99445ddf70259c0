#include "dasgd/elastic/holdings.hpp"

#include <algorithm>
#include <limits>

namespace dasgd::elastic {

void Holdings::note(const GradientSet& names) {
  const auto& prefixes = names.prefixes();
  for (std::size_t o = 0; o < prefixes.size(); ++o)
    if (prefixes[o] > 0) note(worker_id(o), prefixes[o]);
  for (const NameRange& range : names.exceptions()) note(range.origin, range.last);
}

void Holdings::note(WorkerId origin, std::uint32_t count) {
  if (index(origin) >= announced_.size()) announced_.resize(index(origin) + 1, 0);
  std::uint32_t& known = announced_[index(origin)];
  if (count <= known) return;
  if (may_bring(origin)) missing_ += count - known;
  known = count;
}

bool Holdings::is_new(const Parcel& parcel) const {
  bool is_new = true;
  parcel.for_each([&](const GradientFacts& g) { is_new = is_new && !names_.contains(g.name); });
  return is_new;
}

Parcel Holdings::rest_of(const Parcel& parcel) const {
  GradientSet held;
  parcel.for_each([&](const GradientFacts& g) {
    if (names_.contains(g.name)) held.insert(g.name);
  });
  if (held.size() == parcel.size()) return {};
  const auto parts = log_.all_of(held);
  return parts ? bundle_without(*parts, *parcel.bundle) : Parcel();
}

void Holdings::add(const Parcel& parcel, Nanoseconds now, bool at_once) {
  parcel.for_each([&](const GradientFacts& g) {
    note(g.name.origin, g.name.sequence + 1);
    if (missing_ > 0 && may_bring(g.name.origin)) --missing_;
    names_.insert(g.name);
    samples_ += g.samples;
  });
  log_.add(parcel, now, at_once);
}

void Holdings::add_own(GradientPtr gradient, Nanoseconds now) {
  names_.insert(gradient->name);
  samples_ += gradient->samples;
  if (announced_.empty()) announced_.resize(1, 0);
  announced_[0] = gradient->name.sequence + 1;
  log_.add(std::move(gradient), now, true);
}

void Holdings::adopt(const Adoption& adoption) {
  names_ = adoption.names;
  samples_ = adoption.samples;
  abandoned_.unite(adoption.abandoned);
  count_missing();
}

bool Holdings::may_bring(WorkerId origin) const {
  if (origin == Membership::self || index(origin) >= members_.size()) return false;
  return members_.is_here(origin) && !members_[origin].link_broken;
}

std::vector<std::uint64_t> Holdings::missing_beside(const GradientSet& abandoned) const {
  std::vector<std::uint64_t> missing(announced_.begin(), announced_.end());
  for (const GradientSet* const set : {&names_, &abandoned})
    set->for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      if (index(o) >= missing.size()) return;
      std::uint64_t& of_origin = missing[index(o)];
      of_origin -= std::min<std::uint64_t>(of_origin, last - first);
    });
  return missing;
}

void Holdings::count_missing() {
  const auto missing = missing_beside(abandoned_);
  missing_ = 0;
  for (std::size_t i = 1; i < missing.size(); ++i)
    if (may_bring(worker_id(i))) missing_ += missing[i];
}

std::uint64_t Holdings::budget_left(const Budget& budget) const {
  const auto left_of = [](std::uint64_t all, std::uint64_t made) {
    return all - std::min(all, made);
  };
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  if (budget.gradients) left = left_of(*budget.gradients, names_.size() + missing_);
  if (!budget.samples) return left;
  const std::uint64_t each =
      std::max<std::uint64_t>(1, samples_ / std::max<std::uint64_t>(1, names_.size()));
  const std::uint64_t samples_left = left_of(*budget.samples, samples_ + missing_ * each);
  return std::min(left, samples_left / each + (samples_left % each > 0 ? 1 : 0));
}

std::uint64_t Holdings::most_unreported(const Budget& budget) const {
  return std::max<std::uint64_t>(
      1, budget_left(budget) / (4 * std::max<std::size_t>(1, members_.count_here())));
}

}  // namespace dasgd::elastic
