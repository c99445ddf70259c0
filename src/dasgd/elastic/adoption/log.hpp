// The gradients that somebody may still need one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"

namespace dasgd::elastic {

/// In the order in which they came. Each has a place that is never used again, so that readers keep
/// a place and go on from there.
class Log {
 public:
  struct Entry {
    GradientPtr gradient;
    Nanoseconds since = 0;  ///< when it came
    bool at_once = false;   ///< to be sent without waiting for others to do it
  };

  void add(GradientPtr gradient, Nanoseconds now, bool at_once) {
    places_.emplace(key(gradient->name), next_);
    names_.insert(gradient->name);
    entries_.emplace_hint(entries_.end(), next_++, Entry{std::move(gradient), now, at_once});
  }
  std::size_t size() const { return entries_.size(); }
  const GradientSet& names() const { return names_; }

  /// Calls `visit(entry)` from a place on, while it is true; returns the place to go on from.
  template <typename Visit>
  std::uint64_t visit_from(std::uint64_t place, Visit&& visit) const {
    for (auto at = entries_.lower_bound(place); at != entries_.end(); ++at)
      if (!visit(at->second)) return at->first;
    return next_;
  }

  GradientPtr find(GradientName name) const {
    const auto at = places_.find(key(name));
    return at == places_.end() ? nullptr : entries_.at(at->second).gradient;
  }
  /// All gradients of these names; nothing if one of them is not here.
  std::optional<std::vector<GradientPtr>> all_of(const GradientSet& names) const {
    if (!has_all_of(names)) return std::nullopt;
    std::vector<GradientPtr> found;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      for (; first < last; ++first) found.push_back(find({o, first}));
    });
    return found;
  }
  bool has_all_of(const GradientSet& names) const { return names.count_missing_from(names_) == 0; }

  /// Drops those of `names`, all of which are here, that have come by then. One that came later
  /// keeps those behind it in its range, so that what stays is not looked at again and again.
  void drop(const GradientSet& names, Nanoseconds by) {
    GradientSet dropped;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      std::uint32_t next = first;
      for (; next < last; ++next) {
        const auto place = places_.find(key({o, next}));
        const auto entry = entries_.find(place->second);
        if (entry->second.since > by) break;
        entries_.erase(entry);
        places_.erase(place);
      }
      if (next > first) dropped.insert_range({o, first, next});
    });
    if (dropped.size() > 0) names_ = names_.without(dropped);
  }

 private:
  static std::uint64_t key(GradientName name) {
    return std::uint64_t{index(name.origin)} << 32 | name.sequence;
  }
  std::map<std::uint64_t, Entry> entries_;  // by place
  std::uint64_t next_ = 0;
  GradientSet names_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // by name
};

}  // namespace dasgd::elastic
