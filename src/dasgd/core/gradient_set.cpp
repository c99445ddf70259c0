#include "dasgd/core/gradient_set.hpp"

#include <algorithm>
#include <utility>

namespace dasgd {

void GradientSet::write(ByteWriter& to) const {
  to.array(std::span<const std::uint32_t>(prefix_));
  to.array(std::span<const NameRange>(exceptions_));
}

GradientSet GradientSet::read(ByteReader& from) {
  GradientSet set;
  set.prefix_ = from.array<std::uint32_t>();
  set.exceptions_ = from.array<NameRange>();
  for (const std::uint32_t prefix : set.prefix_) set.size_ += prefix;
  const NameRange* last = nullptr;
  for (const NameRange& range : set.exceptions_) {
    const bool ascends = !last || last->origin < range.origin ||
                         (last->origin == range.origin && last->last < range.first);
    // The set of a worker that cannot be would cost memory without end.
    if (index(range.origin) >= set.prefix_.size() || range.first >= range.last || !ascends ||
        range.first <= set.prefix_[index(range.origin)]) {
      from.fail();
      return {};
    }
    set.size_ += range.size();
    last = &range;
  }
  return set;
}

GradientSet::Ranges::const_iterator GradientSet::at_or_behind(const Ranges& ranges,
                                                              GradientName name) {
  return std::partition_point(ranges.begin(), ranges.end(), [name](const NameRange& range) {
    return range.origin < name.origin ||
           (range.origin == name.origin && range.last <= name.sequence);
  });
}

bool GradientSet::insert_out_of_order(GradientName name) {
  const std::size_t origin = index(name.origin);
  if (origin >= prefix_.size()) prefix_.resize(origin + 1, 0);
  std::uint32_t& prefix = prefix_[origin];
  if (name.sequence < prefix) return false;
  const auto behind =
      exceptions_.begin() + (at_or_behind(exceptions_, name) - exceptions_.cbegin());
  const bool has_behind = behind != exceptions_.end() && behind->origin == name.origin;
  if (has_behind && behind->first <= name.sequence) return false;
  const bool touches_behind = has_behind && behind->first == name.sequence + 1;
  const bool has_before = behind != exceptions_.begin() && (behind - 1)->origin == name.origin;
  const bool touches_before = has_before && (behind - 1)->last == name.sequence;
  if (name.sequence == prefix) {
    prefix = touches_behind ? behind->last : name.sequence + 1;
    if (touches_behind) exceptions_.erase(behind);
  } else if (touches_before && touches_behind) {
    (behind - 1)->last = behind->last;
    exceptions_.erase(behind);
  } else if (touches_before) {
    ++(behind - 1)->last;
  } else if (touches_behind) {
    --behind->first;
  } else {
    exceptions_.insert(behind, {name.origin, name.sequence, name.sequence + 1});
  }
  ++size_;
  return true;
}

void GradientSet::insert_range(NameRange range) {
  const std::size_t origin = index(range.origin);
  if (origin >= prefix_.size()) prefix_.resize(origin + 1, 0);
  std::uint32_t& prefix = prefix_[origin];
  range.first = std::max(range.first, prefix);
  if (range.first >= range.last) return;
  size_ += range.size();
  // All ranges that touch this one become part of it.
  const auto touched = [&](const NameRange& other) {
    return other.origin == range.origin && other.first <= range.last;
  };
  const GradientName before{range.origin, range.first == 0 ? 0 : range.first - 1};
  const auto from =
      exceptions_.begin() + (at_or_behind(exceptions_, before) - exceptions_.cbegin());
  auto to = from;
  for (; to != exceptions_.end() && touched(*to); ++to) {
    const std::uint32_t first = std::max(range.first, to->first);
    const std::uint32_t last = std::min(range.last, to->last);
    if (first < last) size_ -= last - first;  // counted already
    range.first = std::min(range.first, to->first);
    range.last = std::max(range.last, to->last);
  }
  const auto at = exceptions_.erase(from, to);
  if (range.first == prefix) {
    prefix = range.last;
  } else {
    exceptions_.insert(at, range);
  }
}

void GradientSet::unite(const GradientSet& other) {
  prefix_.resize(std::max(prefix_.size(), other.prefix_.size()), 0);
  for (std::size_t o = 0; o < other.prefix_.size(); ++o)
    prefix_[o] = std::max(prefix_[o], other.prefix_[o]);
  if (!exceptions_.empty() || !other.exceptions_.empty()) {
    Ranges all(exceptions_.size() + other.exceptions_.size());
    std::ranges::merge(exceptions_, other.exceptions_, all.begin());
    exceptions_.clear();
    for (const NameRange& range : all) append(range);
  }
  count();
}

// Behind all ranges so far, or touching the last of them.
void GradientSet::append(NameRange range) {
  std::uint32_t& prefix = prefix_[index(range.origin)];
  if (range.first <= prefix) {
    prefix = std::max(prefix, range.last);
    return;
  }
  NameRange* const last = exceptions_.empty() ? nullptr : &exceptions_.back();
  if (last && last->origin == range.origin && range.first <= last->last)
    last->last = std::max(last->last, range.last);
  else
    exceptions_.push_back(range);
}

bool GradientSet::contains(GradientName name) const {
  if (name.sequence < prefix(name.origin)) return true;
  const auto at = at_or_behind(exceptions_, name);
  return at != exceptions_.end() && at->origin == name.origin && at->first <= name.sequence;
}

GradientSet GradientSet::without(const GradientSet& other) const {
  GradientSet result(prefix_.size());
  for_each_range_missing_from(other, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    result.size_ += last - first;
    if (first == 0) {
      result.prefix_[index(o)] = last;
    } else {
      result.exceptions_.push_back({o, first, last});
    }
  });
  std::sort(result.exceptions_.begin(), result.exceptions_.end());
  return result;
}

void GradientSet::intersect(const GradientSet& other) {
  if (!exceptions_.empty() || !other.exceptions_.empty()) {
    *this = without(without(other));
    return;
  }
  prefix_.resize(std::min(prefix_.size(), other.prefix_.size()));
  for (std::size_t o = 0; o < prefix_.size(); ++o)
    prefix_[o] = std::min(prefix_[o], other.prefix_[o]);
  count();
}

void GradientSet::count() {
  size_ = 0;
  for (const std::uint32_t prefix : prefix_) size_ += prefix;
  for (const NameRange& range : exceptions_) size_ += range.size();
}

std::uint64_t GradientSet::count_missing_from(const GradientSet& other) const {
  std::uint64_t count = 0;
  if (exceptions_.empty() && other.exceptions_.empty()) {  // the common case, kept free of branches
    const std::size_t shared = std::min(prefix_.size(), other.prefix_.size());
    for (std::size_t o = 0; o < shared; ++o)
      count += prefix_[o] > other.prefix_[o] ? prefix_[o] - other.prefix_[o] : 0;
    for (std::size_t o = shared; o < prefix_.size(); ++o) count += prefix_[o];
    return count;
  }
  for_each_range_missing_from(
      other, [&](WorkerId, std::uint32_t first, std::uint32_t last) { count += last - first; });
  return count;
}

bool operator==(const GradientSet& a, const GradientSet& b) {
  return a.size_ == b.size_ && a.count_missing_from(b) == 0;
}

}  // namespace dasgd
