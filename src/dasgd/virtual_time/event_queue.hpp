// What happens next in virtual time, and what comes first at the same instant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/base/time.hpp"

namespace dasgd {

/// The order at equal instants: own gradients finish, foreign applications finish, frames arrive,
/// links become free, workers look into their inboxes.
enum class EventKind : std::uint64_t { own_finished, foreign_finished, arrival, link_free, look };

/// `rank` orders events of one kind at one instant: the worker's number, or the order of sending.
struct Event {
  Nanoseconds time = 0;
  std::uint64_t order = 0;
  std::uint32_t subject = 0;  ///< a worker, or a frame in flight

  static Event make(Nanoseconds time, EventKind kind, std::uint64_t rank, std::uint32_t subject) {
    return {time, static_cast<std::uint64_t>(kind) << 61 | rank, subject};
  }
  EventKind kind() const { return static_cast<EventKind>(order >> 61); }
  bool before(const Event& other) const {
    return time != other.time ? time < other.time : order < other.order;
  }
};

/// A binary heap with one seat in front: the event that was pushed last is often the next one.
class EventQueue {
 public:
  void push(const Event& event) {
    if (!seat_) {
      seat_ = event;
    } else {
      heap_.push_back(event);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  /// The first event, or nothing when there is none.
  std::optional<Event> pop() {
    if (seat_ && (heap_.empty() || seat_->before(heap_.front()))) {
      const Event event = *seat_;
      seat_.reset();
      return event;
    }
    if (heap_.empty()) return std::nullopt;
    const Event event = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return event;
  }

 private:
  static bool later(const Event& a, const Event& b) { return b.before(a); }
  std::vector<Event> heap_;
  std::optional<Event> seat_;
};

}  // namespace dasgd
