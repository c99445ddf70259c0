// The set of gradients a worker has applied: G_i^t of the paper (section 3.1.1, "Notation").
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

/// Names of one origin in a row: [first, last).
struct NameRange {
  WorkerId origin{};
  std::uint32_t first = 0, last = 0;

  std::uint32_t size() const { return last - first; }
  friend auto operator<=>(const NameRange&, const NameRange&) = default;
};

/// A set of gradient names. Per origin it keeps the length of the contiguous prefix 0, 1, 2, ...;
/// names beyond a gap wait in a sorted list of ranges, usually empty. So a set of a million names
/// over n origins takes 4 n bytes, and comparing two sets takes O(n + ranges).
class GradientSet {
 public:
  GradientSet() = default;
  explicit GradientSet(std::size_t workers) : prefix_(workers, 0) {}

  /// The bytes of a set, in messages and files.
  void write(ByteWriter& to) const;
  /// Nothing, and `from` has failed, where there is none.
  static GradientSet read(ByteReader& from);

  /// Adds a name; false when it was there already.
  bool insert(GradientName name) {
    const std::size_t origin = index(name.origin);
    if (!exceptions_.empty() || origin >= prefix_.size() || name.sequence != prefix_[origin])
      return insert_out_of_order(name);
    ++prefix_[origin];
    ++size_;
    return true;
  }
  /// Adds all names of a range that are not there.
  void insert_range(NameRange range);
  /// Adds all names of `other`.
  void unite(const GradientSet& other);
  bool contains(GradientName name) const;
  /// this \ other.
  GradientSet without(const GradientSet& other) const;
  /// Keeps only what is in `other` too.
  void intersect(const GradientSet& other);

  /// |G|; for a worker's own set this is its step counter t.
  std::uint64_t size() const { return size_; }
  /// How many of `origin`'s gradients are here without a gap, counted from its first.
  std::uint32_t prefix(WorkerId origin) const {
    return index(origin) < prefix_.size() ? prefix_[index(origin)] : 0;
  }
  /// How many of `origin`'s gradients are here.
  std::uint64_t size_of(WorkerId origin) const {
    std::uint64_t count = prefix(origin);
    for (const NameRange& range : exceptions_) count += range.origin == origin ? range.size() : 0;
    return count;
  }
  /// All prefixes, by origin.
  const std::vector<std::uint32_t>& prefixes() const { return prefix_; }
  /// The names beyond the prefixes, ascending; each range stands behind a gap.
  const std::vector<NameRange>& exceptions() const { return exceptions_; }
  /// Of both.
  std::size_t size_in_bytes() const {
    return prefix_.size() * sizeof(std::uint32_t) + exceptions_.size() * sizeof(NameRange);
  }

  /// Calls `visit(origin, first, last)` for ranges of names [first, last) that together are exactly
  /// this set without `other`.
  template <typename Visit>
  void for_each_range_missing_from(const GradientSet& other, Visit&& visit) const;

  /// |this \ other|.
  std::uint64_t count_missing_from(const GradientSet& other) const;
  /// Whether no name is in both.
  bool is_disjoint_from(const GradientSet& other) const {
    return count_missing_from(other) == size_;
  }

  friend bool operator==(const GradientSet& a, const GradientSet& b);

 private:
  using Ranges = std::vector<NameRange>;
  /// The first range that ends behind `name`.
  static Ranges::const_iterator at_or_behind(const Ranges& ranges, GradientName name);
  void count();
  bool insert_out_of_order(GradientName name);
  void append(NameRange range);
  template <typename Visit>
  void visit_missing(NameRange range, const GradientSet& other, Visit&& visit) const;

  std::vector<std::uint32_t> prefix_;
  Ranges exceptions_;
  std::uint64_t size_ = 0;
};

// The part of `range` that is not in `other`.
template <typename Visit>
void GradientSet::visit_missing(NameRange range, const GradientSet& other, Visit&& visit) const {
  std::uint32_t from = std::max(range.first, other.prefix(range.origin));
  if (from >= range.last) return;
  auto ahead = at_or_behind(other.exceptions_, {range.origin, from});
  for (; ahead != other.exceptions_.end() && ahead->origin == range.origin; ++ahead) {
    if (ahead->first >= range.last) break;
    if (from < ahead->first) visit(range.origin, from, ahead->first);
    from = ahead->last;
  }
  if (from < range.last) visit(range.origin, from, range.last);
}

template <typename Visit>
void GradientSet::for_each_range_missing_from(const GradientSet& other, Visit&& visit) const {
  for (std::size_t o = 0; o < prefix_.size(); ++o)
    visit_missing({worker_id(o), 0, prefix_[o]}, other, visit);
  for (const NameRange& range : exceptions_) visit_missing(range, other, visit);
}

}  // namespace dasgd
