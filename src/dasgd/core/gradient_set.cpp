#include "dasgd/core/gradient_set.hpp"

#include <algorithm>
#include <utility>

namespace dasgd {

GradientSet::GradientSet(std::vector<std::uint32_t> prefixes,
                         const std::vector<GradientName>& exceptions)
    : prefix_(std::move(prefixes)) {
  for (const std::uint32_t prefix : prefix_) size_ += prefix;
  for (const GradientName& name : exceptions) insert(name);
}

std::optional<GradientSet> GradientSet::from_parts(std::vector<std::uint32_t> prefixes,
                                                   std::vector<GradientName> exceptions) {
  GradientSet set;
  for (const std::uint32_t prefix : prefixes) set.size_ += prefix;
  set.size_ += exceptions.size();
  const GradientName* last = nullptr;
  for (const GradientName& name : exceptions) {
    // An exception stands beyond a gap, and the list ascends.
    if (index(name.origin) >= prefixes.size() || name.sequence <= prefixes[index(name.origin)] ||
        (last && name <= *last))
      return std::nullopt;
    last = &name;
  }
  set.prefix_ = std::move(prefixes);
  set.exceptions_ = std::move(exceptions);
  return set;
}

bool GradientSet::insert(GradientName name) {
  const std::size_t origin = index(name.origin);
  if (origin >= prefix_.size()) prefix_.resize(origin + 1, 0);
  std::uint32_t& prefix = prefix_[origin];
  if (name.sequence < prefix) return false;
  const auto at = std::lower_bound(exceptions_.begin(), exceptions_.end(), name);
  if (name.sequence > prefix) {
    if (at != exceptions_.end() && *at == name) return false;
    exceptions_.insert(at, name);
  } else {
    ++prefix;
    auto closed = at;  // the gap is closed: exceptions that continue the prefix join it
    while (closed != exceptions_.end() && *closed == GradientName{name.origin, prefix}) {
      ++closed;
      ++prefix;
    }
    exceptions_.erase(at, closed);
  }
  ++size_;
  return true;
}

bool GradientSet::contains(GradientName name) const {
  return name.sequence < prefix(name.origin) ||
         std::binary_search(exceptions_.begin(), exceptions_.end(), name);
}

void GradientSet::intersect(const GradientSet& other) {
  // Beyond the shorter prefix, a common name is an exception of at least one of the two.
  std::vector<GradientName> beyond;
  for (const GradientName& name : exceptions_)
    if (other.contains(name)) beyond.push_back(name);
  for (const GradientName& name : other.exceptions_)
    if (name.sequence < prefix(name.origin)) beyond.push_back(name);
  size_ = 0;
  for (std::size_t o = 0; o < prefix_.size(); ++o) {
    prefix_[o] = std::min(prefix_[o], other.prefix(worker_id(o)));
    size_ += prefix_[o];
  }
  exceptions_.clear();
  std::sort(beyond.begin(), beyond.end());
  for (const GradientName& name : beyond) insert(name);
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
