// The gradients that somebody may still need one by one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/gradient_set.hpp"

namespace dasgd::elastic {

/// In the order in which they came. Places count from the first that was ever here, so that readers
/// keep a place and go on from there.
class Log {
 public:
  struct Entry {
    GradientPtr gradient;   ///< null: dropped
    Nanoseconds since = 0;  ///< when it came
    bool at_once = false;   ///< to be sent without waiting for others to do it
  };

  void add(GradientPtr gradient, Nanoseconds now, bool at_once) {
    places_.emplace(key(gradient->name), end());
    entries_.push_back({std::move(gradient), now, at_once});
  }
  std::size_t size() const { return places_.size(); }
  std::uint64_t begin() const { return first_; }
  std::uint64_t end() const { return first_ + entries_.size(); }
  const Entry& at(std::uint64_t place) const { return entries_[place - first_]; }

  GradientPtr find(GradientName name) const {
    const auto at = places_.find(key(name));
    return at == places_.end() ? nullptr : entries_[at->second - first_].gradient;
  }
  /// All gradients of these names; nothing if one of them is not here.
  std::optional<std::vector<GradientPtr>> all_of(const GradientSet& names) const {
    if (names.size() > size()) return std::nullopt;
    std::vector<GradientPtr> found;
    bool complete = true;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      for (; complete && first < last; ++first) {
        found.push_back(find({o, first}));
        complete = found.back() != nullptr;
      }
    });
    return complete ? std::optional(std::move(found)) : std::nullopt;
  }
  bool has_all_of(const GradientSet& names) const { return all_of(names).has_value(); }

  /// Drops what nobody needs, as `needed(gradient)` says.
  template <typename Needed>
  void collect(Needed&& needed) {
    for (Entry& entry : entries_) {
      if (!entry.gradient || needed(*entry.gradient)) continue;
      places_.erase(key(entry.gradient->name));
      entry.gradient.reset();
    }
    for (; !entries_.empty() && !entries_.front().gradient; ++first_) entries_.pop_front();
  }

 private:
  static std::uint64_t key(GradientName name) {
    return std::uint64_t{index(name.origin)} << 32 | name.sequence;
  }
  std::deque<Entry> entries_;
  std::uint64_t first_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // by name
};

}  // namespace dasgd::elastic
