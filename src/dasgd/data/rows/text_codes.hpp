// Texts that occur often, as small numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

namespace dasgd {

/// Gives every text a number, counted from 0 in the order of their first occurrence. Texts are not
/// copied: whoever holds them must keep them.
class TextCodes {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Entry {
    std::string_view text;
    std::size_t count = 0;  ///< how often it came
  };

  /// The number of a text that came `times` times. Of a new one, what `keep` returns is held.
  template <typename Keep = std::identity>
  std::uint32_t code(std::string_view text, std::size_t times = 1, const Keep& keep = {}) {
    if (2 * (entries_.size() + 1) > places_.size()) grow();
    const std::uint64_t hash = hash_of(text);
    Place& place = places_[find_place(text, hash)];
    if (place.code == none) {
      place = {tag_of(hash), static_cast<std::uint32_t>(entries_.size())};
      entries_.push_back({keep(text), 0});
    }
    entries_[place.code].count += times;
    return place.code;
  }
  /// None where it never came.
  std::uint32_t find(std::string_view text) const {
    return entries_.empty() ? none : places_[find_place(text, hash_of(text))].code;
  }
  /// To be called some time before this text is looked up.
  void prefetch(std::string_view text) const {
    if (!places_.empty()) __builtin_prefetch(&places_[hash_of(text) & (places_.size() - 1)]);
  }
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  /// Forgets all texts, and keeps the memory for others.
  void clear() {
    entries_.clear();
    std::fill(places_.begin(), places_.end(), Place{});
  }

 private:
  struct Place {
    std::uint32_t tag = 0, code = none;
  };

  // Where the text is, or would be.
  std::size_t find_place(std::string_view text, std::uint64_t hash) const {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Place& place = places_[at];
      if (place.code == none) return at;
      if (place.tag == tag_of(hash) && entries_[place.code].text == text) return at;
    }
  }
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  // Most texts are short: two words, which may overlap, hold all of them.
  static std::uint64_t hash_of(std::string_view text) {
    const std::size_t size = text.size();
    if (size > 16) return std::hash<std::string_view>()(text);
    std::uint64_t first = 0, last = 0;
    if (size >= 8) {
      std::memcpy(&first, text.data(), 8);
      std::memcpy(&last, text.data() + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(&first, text.data(), 4);
      std::memcpy(&last, text.data() + size - 4, 4);
    } else {
      for (const char c : text) first = first << 8 | static_cast<unsigned char>(c);
    }
    std::uint64_t hash = (first ^ size) * 0x9E3779B97F4A7C15;
    hash = (hash ^ hash >> 32 ^ last) * 0xD6E8FEB86659FD93;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93;
    return hash ^ hash >> 32;
  }
  void grow() {
    places_.assign(places_.empty() ? 64 : 2 * places_.size(), {});
    const std::size_t mask = places_.size() - 1;
    for (std::uint32_t code = 0; code < entries_.size(); ++code) {
      const std::uint64_t hash = hash_of(entries_[code].text);
      std::size_t at = hash & mask;
      while (places_[at].code != none) at = (at + 1) & mask;
      places_[at] = {tag_of(hash), code};
    }
  }

  std::vector<Entry> entries_;
  std::vector<Place> places_;  // a power of two of them, at most half of them taken
};

}  // namespace dasgd
