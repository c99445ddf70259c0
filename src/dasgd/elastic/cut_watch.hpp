// Whether this member is cut off from half of the others, and what it may do meanwhile.
#pragma once

#include <cstddef>
#include <utility>

#include "dasgd/base/time.hpp"

namespace dasgd::elastic {

class CutWatch {
 public:
  /// How it is now. A line for people, if it is worth one: a member that has just joined sees
  /// nobody for a moment.
  const char* update(bool cut_off, bool some_are_silent, Nanoseconds worth_it, Nanoseconds now) {
    if (cut_off && !std::exchange(cut_off_, cut_off)) {
      since_ = now;
      computed_ = 0;
    }
    cut_off_ = cut_off;
    if (cut_off_ && !reported_ && now - since_ >= worth_it) {
      reported_ = true;
      return "lost contact with half of the members or more: waiting for them";
    }
    if (cut_off_ || !std::exchange(reported_, false)) return nullptr;
    return some_are_silent ? "continuing without the silent members" : "no longer cut off";
  }
  bool is_cut_off() const { return cut_off_; }
  /// A gradient was computed.
  void computed() { computed_ += cut_off_ ? 1 : 0; }
  /// Whether another one may be: so many while it is cut off.
  bool may_compute(std::size_t in_flight) const { return !cut_off_ || computed_ < in_flight; }

 private:
  friend struct StateOf;
  bool cut_off_ = false, reported_ = false;
  Nanoseconds since_ = 0;
  std::size_t computed_ = 0;
};

}  // namespace dasgd::elastic
