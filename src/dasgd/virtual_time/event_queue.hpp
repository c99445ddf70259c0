// What happens next in virtual time, and what comes first at the same instant.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dasgd/base/fifo.hpp"
#include "dasgd/base/time.hpp"

namespace dasgd {

/// The order at equal instants: own gradients finish, foreign applications finish, frames arrive,
/// links become free, workers look into their inboxes.
enum class EventKind : std::uint64_t { own_finished, foreign_finished, arrival, link_free, look };

/// `rank` orders events of one kind at one instant: the worker's number, or the order of sending.
struct QueuedEvent {
  Nanoseconds time = 0;
  std::uint64_t order = 0;
  std::uint32_t subject = 0;  ///< a worker, or a frame in flight

  static QueuedEvent make(Nanoseconds time, EventKind kind, std::uint64_t rank,
                          std::uint32_t subject) {
    return {time, static_cast<std::uint64_t>(kind) << 61 | rank, subject};
  }
  /// Behind everything that happens then.
  static QueuedEvent last_at(Nanoseconds time) {
    return {time, std::numeric_limits<std::uint64_t>::max(), 0};
  }
  EventKind kind() const { return static_cast<EventKind>(order >> 61); }
  bool before(const QueuedEvent& other) const {
    return time != other.time ? time < other.time : order < other.order;
  }
};

/// Most events of a kind are pushed in their order: they wait in a row, and only the others in a
/// heap.
class EventQueue {
 public:
  void push(const QueuedEvent& event) {
    Row& row = rows_[static_cast<std::size_t>(event.kind())];
    if (row.events.empty() || !event.before(row.events.back())) {
      row.events.push_back(event);
      row.note_time();
    } else {
      heap_.push_back(event);
      std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
  }

  /// The first event, or nothing when there is none.
  std::optional<QueuedEvent> pop() {
    Row* row = rows_.data();  // at one instant, the first kind
    for (Row& other : rows_)
      if (other.time < row->time) row = &other;
    const bool has_row = !row->events.empty();
    if (!heap_.empty() && (!has_row || heap_.front().before(row->events.front()))) {
      std::pop_heap(heap_.begin(), heap_.end(), Later{});
      const QueuedEvent event = heap_.back();
      heap_.pop_back();
      return event;
    }
    if (!has_row) return std::nullopt;
    const QueuedEvent event = row->events.pop_front();
    row->note_time();
    return event;
  }

 private:
  struct Later {
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const { return b.before(a); }
  };
  struct Row {
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    void note_time() {
      time = events.empty() ? never : static_cast<std::uint64_t>(events.front().time);
    }
    std::uint64_t time = never;  // of the first; beyond all times where there is none
    Fifo<QueuedEvent> events;
  };
  std::array<Row, 5> rows_;  // by kind
  std::vector<QueuedEvent> heap_;
};

}  // namespace dasgd
