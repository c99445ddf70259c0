// What somebody may still need piece by piece.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd::elastic {

/// Gradients and bundles in the order in which they came. Each has a place that is never used
/// again, so that readers keep a place and go on from there. A bundle is not taken apart. It is of
/// one origin, without gaps, or *mixed*: what a relay of a tree has summed.
class Log {
 public:
  struct Entry {
    Parcel parcel;
    Nanoseconds since = 0;  ///< when it came
    bool at_once = false;   ///< to be sent without waiting for others to do it
  };

  void add(Parcel parcel, Nanoseconds now, bool at_once) {
    parcel.for_each([this](const GradientFacts& g) {
      if (names_.contains(g.name)) forget(places_.at(key(g.name)));  // given up, and back again
      places_.emplace(key(g.name), next_);
      names_.insert(g.name);
    });
    bytes_ += bytes_of(parcel);
    mixed_ += is_mixed(parcel) ? 1 : 0;
    entries_.emplace_hint(entries_.end(), next_++, Entry{std::move(parcel), now, at_once});
  }
  /// Where what comes next will stand.
  std::uint64_t end() const { return next_; }
  /// How many gradients and bundles.
  std::size_t size() const { return entries_.size(); }
  /// Of their numbers and, about, of what is known of them.
  std::size_t size_in_bytes() const { return bytes_; }
  const GradientSet& names() const { return names_; }

  /// Calls `visit(entry)` from a place on, while it is true; returns the place to go on from.
  template <typename Visit>
  std::uint64_t visit_from(std::uint64_t place, Visit&& visit) const {
    for (auto at = entries_.lower_bound(place); at != entries_.end(); ++at)
      if (!visit(at->second)) return at->first;
    return next_;
  }

  /// The gradient of this name, or the bundle that has it.
  Parcel find(GradientName name) const {
    const auto at = places_.find(key(name));
    return at == places_.end() ? Parcel() : entries_.at(at->second).parcel;
  }
  /// When the gradient of this name came.
  std::optional<Nanoseconds> since(GradientName name) const {
    const auto at = places_.find(key(name));
    return at == places_.end() ? std::nullopt : std::optional(entries_.at(at->second).since);
  }
  /// What makes up these names; nothing if one of them is not here, or only in a bundle with
  /// others.
  std::optional<std::vector<Parcel>> all_of(const GradientSet& names) const {
    if (!has_all_of(names)) return std::nullopt;
    std::vector<Parcel> found;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      for (; first < last; ++first) {
        Parcel parcel = find({o, first});
        if (parcel.first_name() == GradientName{o, first}) found.push_back(std::move(parcel));
      }
    });
    return found;
  }
  bool has_all_of(const GradientSet& names) const {
    if (names.count_missing_from(names_) > 0) return false;
    bool whole = true;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      if (mixed_ > 0) {
        for (; first < last && whole; ++first) whole = is_within(find({o, first}), names);
        return;
      }
      // Only at the ends of a range can a bundle be cut.
      const Parcel begin = find({o, first}), end = find({o, last - 1});
      whole = whole && begin.first_name().sequence == first &&
              end.first_name().sequence + end.size() == last;
    });
    return whole;
  }

  /// Whether all of it is among these.
  static bool is_within(const Parcel& parcel, const GradientSet& names) {
    bool all = true;
    parcel.for_each([&](const GradientFacts& g) { all = all && names.contains(g.name); });
    return all;
  }

  /// Drops those of `names`, all of which are here, that have come by then; a bundle if all of it
  /// is meant. What came later keeps those behind it in its range, so that what stays is not looked
  /// at again and again.
  void drop(const GradientSet& names, Nanoseconds by) {
    GradientSet dropped;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      std::uint32_t next = first;
      for (; next < last; ++next) {
        const auto place = places_.find(key({o, next}));
        if (place == places_.end()) continue;  // it went with others of its bundle
        const auto entry = entries_.find(place->second);
        if (entry->second.since > by || !is_within(entry->second.parcel, names)) break;
        entry->second.parcel.for_each([&](const GradientFacts& g) {
          places_.erase(key(g.name));
          if (g.name.origin != o || g.name.sequence != next) dropped.insert(g.name);
        });
        erase(entry);
      }
      if (next > first) dropped.insert_range({o, first, next});
    });
    if (dropped.size() > 0) names_ = names_.without(dropped);
  }

 private:
  void forget(std::uint64_t place) {
    const auto entry = entries_.find(place);
    GradientSet names;
    entry->second.parcel.for_each([&](const GradientFacts& g) {
      names.insert(g.name);
      places_.erase(key(g.name));
    });
    names_ = names_.without(names);
    erase(entry);
  }
  using Entries = std::map<std::uint64_t, Entry>;
  void erase(Entries::iterator entry) {
    bytes_ -= bytes_of(entry->second.parcel);
    mixed_ -= is_mixed(entry->second.parcel) ? 1 : 0;
    entries_.erase(entry);
  }
  static std::size_t bytes_of(const Parcel& parcel) {
    constexpr std::size_t of_first = 1024, of_others = 256;  // names: their facts and places
    std::size_t bytes = parcel.size_in_bytes() + of_first + of_others * (parcel.size() - 1);
    parcel.for_each([&](const GradientFacts& g) { bytes += g.compute_set.size_in_bytes(); });
    return bytes;
  }
  static bool is_mixed(const Parcel& parcel) {
    const GradientName first = parcel.first_name();
    std::uint32_t next = first.sequence;
    bool mixed = false;
    parcel.for_each([&](const GradientFacts& g) {
      mixed = mixed || g.name.origin != first.origin || g.name.sequence != next++;
    });
    return mixed;
  }
  static std::uint64_t key(GradientName name) {
    return std::uint64_t{index(name.origin)} << 32 | name.sequence;
  }
  Entries entries_;                    // by place
  std::size_t bytes_ = 0, mixed_ = 0;  // of all; how many are mixed
  std::uint64_t next_ = 0;
  GradientSet names_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // by name
};

}  // namespace dasgd::elastic
