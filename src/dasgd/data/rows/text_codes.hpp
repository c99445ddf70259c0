// Texts that occur often, as small numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace dasgd {

/// Gives every text a number, counted from 0 in the order of their first occurrence. Texts are not
/// copied: whoever holds them must keep them.
class TextCodes {
 public:
  struct Entry {
    std::string_view text;
    std::size_t count = 0;  ///< how often it came
  };

  std::uint32_t code(std::string_view text) {
    if (!entries_.empty() && entries_[last_].text == text) [[unlikely]] {
      ++entries_[last_].count;
      return last_;
    }
    if (2 * (entries_.size() + 1) > places_.size()) grow();
    const std::size_t hash = hash_of(text), mask = places_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Place& place = places_[at];
      if (place.code == none) {
        place = {static_cast<std::uint32_t>(hash >> 32),
                 static_cast<std::uint32_t>(entries_.size())};
        entries_.push_back({text, 0});
      }
      if (place.hash == static_cast<std::uint32_t>(hash >> 32) &&
          entries_[place.code].text == text) {
        ++entries_[last_ = place.code].count;
        return place.code;
      }
    }
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Place {
    std::uint32_t hash = 0, code = none;
  };

  static std::size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }
  void grow() {
    places_.assign(places_.empty() ? 64 : 2 * places_.size(), {});
    const std::size_t mask = places_.size() - 1;
    for (std::uint32_t code = 0; code < entries_.size(); ++code) {
      const std::size_t hash = hash_of(entries_[code].text);
      std::size_t at = hash & mask;
      while (places_[at].code != none) at = (at + 1) & mask;
      places_[at] = {static_cast<std::uint32_t>(hash >> 32), code};
    }
  }

  std::vector<Entry> entries_;
  std::vector<Place> places_;  // a power of two of them, at most half of them taken
  std::uint32_t last_ = 0;
};

}  // namespace dasgd
