// Applications that follow each other, known by numbers instead of events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "dasgd/virtual_time/event_queue.hpp"

namespace dasgd {

/// What waits for a worker when it looks is applied one after the other, without a pause. Where
/// nobody sees the worker in between, one event at the end is enough: how many applications have
/// begun and are complete after any other event follows from the contract of virtual time.
struct Streak {
  std::uint32_t worker = 0;
  Nanoseconds begin = 0, each = 0;      ///< `each` is positive
  std::size_t count = 0;                ///< applications, ...
  std::size_t begun = 0, complete = 0;  ///< of them, as far as the worker has caught up

  /// Of what waits as much as is complete before the end of the clock.
  static Streak of(WorkerId worker, Nanoseconds begin, Nanoseconds each, std::size_t waiting) {
    const Nanoseconds fit = (std::numeric_limits<Nanoseconds>::max() - begin) / each;
    return {static_cast<std::uint32_t>(worker), begin, each,
            std::min(waiting, static_cast<std::size_t>(fit))};
  }

  bool is_over() const { return complete == count; }
  Nanoseconds end() const { return begin + each * static_cast<Nanoseconds>(count); }

  /// How many are complete once `event` has been handled, and how many have begun: one at the look
  /// that began the streak, each further one at a look that needs no event.
  std::size_t complete_after(const QueuedEvent& event) const {
    return instants_until(event, EventKind::foreign_finished);
  }
  std::size_t begun_after(const QueuedEvent& event) const {
    return std::min(count, 1 + instants_until(event, EventKind::look));
  }
  /// What a worker does that catches up until `event` has been handled: it ends what it had begun,
  /// applies more at once, and begins another.
  struct Passed {
    bool ends_first = false;
    std::size_t at_once = 0;
    Nanoseconds time = 0;  ///< when the last of them was complete
    bool begins_another = false;
  };
  Passed pass(const QueuedEvent& event) {
    if (is_over()) return {};
    const std::size_t complete_now = complete_after(event), begun_now = begun_after(event);
    Passed now;
    if (complete < complete_now) {
      now.ends_first = begun > complete;
      now.at_once = complete_now - complete - (now.ends_first ? 1 : 0);
      now.time = begin + each * static_cast<Nanoseconds>(complete_now);
      complete = complete_now;
      begun = std::max(begun, complete_now);
    }
    now.begins_another = begun < begun_now;
    begun = begun_now;
    return now;
  }
  /// Ends it with the first that is complete at `time` or later.
  void end_with_the_first_after(Nanoseconds time) {
    const Nanoseconds left = std::max(begin, time) - begin;
    count = std::min(count, static_cast<std::size_t>(left / each + (left % each > 0)));
  }
  /// Ends it with the one that is under way then.
  void cut_after(const QueuedEvent& event) { count = begun_after(event); }

 private:
  std::size_t instants_until(const QueuedEvent& event, EventKind kind) const {
    if (event.time < begin + each) return 0;
    const Nanoseconds whole = (event.time - begin) / each;
    const bool is_now = begin + whole * each == event.time;
    const bool is_later =
        is_now && event.before(QueuedEvent::make(event.time, kind, worker, worker));
    return std::min(count, static_cast<std::size_t>(whole) - (is_later ? 1 : 0));
  }
};

}  // namespace dasgd
