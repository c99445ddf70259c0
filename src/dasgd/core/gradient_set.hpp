// The set of gradients a worker has applied: G_i^t of the paper (section 3.1.1, "Notation").
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/core/names.hpp"

namespace dasgd {

/// A set of gradient names. Per origin it keeps the length of the contiguous prefix 0, 1, 2, ...;
/// names that arrived ahead of a gap wait in a sorted list of exceptions, usually empty. So a set
/// of a million names over n origins takes 4 n bytes, and comparing two sets takes O(n +
/// exceptions).
class GradientSet {
 public:
  GradientSet() = default;
  explicit GradientSet(std::size_t workers) : prefix_(workers, 0) {}
  /// The set with these prefixes and, beyond them, these names: what `prefixes` and `exceptions` of
  /// another set say.
  GradientSet(std::vector<std::uint32_t> prefixes, const std::vector<GradientName>& exceptions);
  /// The set with these parts; nothing if they are not what `prefixes` and `exceptions` of a set
  /// could be.
  static std::optional<GradientSet> from_parts(std::vector<std::uint32_t> prefixes,
                                               std::vector<GradientName> exceptions);

  /// Adds a name; false when it was there already.
  bool insert(GradientName name);
  bool contains(GradientName name) const;
  /// Keeps only what is in `other` too.
  void intersect(const GradientSet& other);

  /// |G|; for a worker's own set this is its step counter t.
  std::uint64_t size() const { return size_; }
  /// How many of `origin`'s gradients are here without a gap, counted from its first.
  std::uint32_t prefix(WorkerId origin) const {
    return index(origin) < prefix_.size() ? prefix_[index(origin)] : 0;
  }
  /// All of them, by origin.
  const std::vector<std::uint32_t>& prefixes() const { return prefix_; }
  /// The names beyond the prefixes, ascending.
  const std::vector<GradientName>& exceptions() const { return exceptions_; }

  /// Calls `visit(origin, first, last)` for ranges of names [first, last) that together are exactly
  /// this set without `other`.
  template <typename Visit>
  void for_each_range_missing_from(const GradientSet& other, Visit&& visit) const;

  /// |this \ other|.
  std::uint64_t count_missing_from(const GradientSet& other) const;

  friend bool operator==(const GradientSet& a, const GradientSet& b);

 private:
  std::vector<std::uint32_t> prefix_;
  std::vector<GradientName> exceptions_;
  std::uint64_t size_ = 0;
};

template <typename Visit>
void GradientSet::for_each_range_missing_from(const GradientSet& other, Visit&& visit) const {
  for (std::size_t o = 0; o < prefix_.size(); ++o) {
    const WorkerId origin = worker_id(o);
    std::uint32_t from = other.prefix(origin);
    if (from >= prefix_[o]) continue;
    auto ahead = std::lower_bound(other.exceptions_.begin(), other.exceptions_.end(),
                                  GradientName{origin, from});
    for (; ahead != other.exceptions_.end() && *ahead < GradientName{origin, prefix_[o]}; ++ahead) {
      if (from < ahead->sequence) visit(origin, from, ahead->sequence);
      from = ahead->sequence + 1;
    }
    if (from < prefix_[o]) visit(origin, from, prefix_[o]);
  }
  for (const GradientName& name : exceptions_)
    if (!other.contains(name)) visit(name.origin, name.sequence, name.sequence + 1);
}

}  // namespace dasgd
