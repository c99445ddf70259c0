// How many applications are complete, and with which of them figures are due.
#pragma once

#include <cstdint>

#include "dasgd/run/figures.hpp"
#include "dasgd/sim/agent.hpp"

namespace dasgd {

/// Figures belong to the instant at which so many applications are complete, be it in a streak.
template <typename Real>
class ApplicationCount {
 public:
  /// `streaks`: some are known by numbers instead of events. `each`: how long they take.
  ApplicationCount(const FigureLog* log, bool streaks, Nanoseconds each, const Agents<Real>& agents)
      : log_(log), streaks_(streaks), each_(each), agents_(agents) {}

  /// So many more are complete, of those that workers have caught up with.
  void add(std::uint64_t applications) { total_ += applications; }
  /// That was an event, so that no streak counts them.
  void add_by_event(std::uint64_t applications) { counted_.applications += applications; }
  std::uint64_t total() const { return total_; }
  bool has_streaks() const { return streaks_; }

  /// Whether figures are due once `event` has been handled. Streaks are counted only where so many
  /// can be complete by then.
  bool wants_figures_after(const QueuedEvent& event) {
    if (!log_) return false;
    if (!streaks_) return are_due(total_);
    if (!are_due(counted_.applications + most_between(counted_.event, event))) return false;
    counted_ = {event, all_after(event)};
    return are_due(counted_.applications);
  }
  /// The application with which they are due, after `last` and not after `next`.
  QueuedEvent due_between(const QueuedEvent& last, const QueuedEvent& next) const {
    const auto wants_after = [&](const QueuedEvent& event) { return are_due(all_after(event)); };
    Nanoseconds before = last.time - 1, at = next.time;
    while (at - before > 1) {
      const Nanoseconds middle = before + (at - before) / 2;
      (wants_after(QueuedEvent::last_at(middle)) ? at : before) = middle;
    }
    const auto by = [at](std::size_t worker) {
      return QueuedEvent::make(at, EventKind::foreign_finished, worker, 0);
    };
    std::size_t low = 0, high = agents_.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (wants_after(by(middle)))
        high = middle;
      else
        low = middle + 1;
    }
    return by(low);
  }

 private:
  bool are_due(std::uint64_t applications) const {
    return applications > 0 && log_->wants(applications);
  }
  std::uint64_t most_between(const QueuedEvent& first, const QueuedEvent& last) const {
    const bool foreign_before = first.kind() > EventKind::foreign_finished;
    if (first.time == last.time && (foreign_before || last.kind() == EventKind::own_finished))
      return 0;
    const auto in_a_row = static_cast<std::uint64_t>((last.time - first.time) / each_ + 1);
    return in_a_row * agents_.size();
  }
  std::uint64_t all_after(const QueuedEvent& event) const {
    std::uint64_t sum = total_;
    for (const auto& agent : agents_)
      if (const Streak& streak = agent->streak; !streak.is_over())
        sum += streak.complete_after(event) - streak.complete;
    return sum;
  }

  const FigureLog* const log_;
  const bool streaks_;
  const Nanoseconds each_;
  const Agents<Real>& agents_;
  std::uint64_t total_ = 0;
  struct {
    QueuedEvent event;
    std::uint64_t applications = 0;
  } counted_;  // when streaks were counted last, and what there was then and by events since
};

}  // namespace dasgd
