// Staleness by the letter: the members of every S, one by one.
#pragma once

#include <utility>

#include "dasgd/staleness/replayed_worker.hpp"
#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {

/// Recomputes the applications of one worker after the other with the global view of the index.
/// Takes any order of delivery, and time in proportion to the lines and to the sizes of the sets.
/// The compute sets of one origin grow: of many that S_hat brings along, the smallest has most that
/// is absent from it, and the largest most that is missing here.
class SetReplay {
 public:
  explicit SetReplay(const TraceIndex& index)
      : index_(index),
        marks_(index.workers()),
        seen_in_(index.gradients(), 0),
        weight_(index.gradients(), 0) {}

  ReplayedWorker worker(std::size_t i);

 private:
  using Number = TraceIndex::Number;

  void begin(std::size_t i);
  void next(ReplayedWorker& result);
  void reach(Number h);
  void collect_missing(std::size_t j, std::uint32_t from, std::uint32_t to);
  void collect_absent(std::size_t j);
  void add(Number g, std::vector<Number>& to);
  void advance(std::size_t j);
  void weigh(std::uint64_t S, std::uint64_t& largest);
  void applied(Number g);

  struct Marks {
    std::uint32_t prefix = 0;           // how many of the origin's gradients are applied
    std::uint32_t present_from = 0;     // a position in i's own order
    std::uint32_t missing_from = 0;     // a position in the origin's order
    std::uint32_t round = 0;            // in which gradients of this origin were looked at last,
    std::uint32_t least = 0, most = 0;  // and the smallest and largest of their compute sets
    bool used = false;
  };
  Marks& mark(std::size_t j) {
    if (!std::exchange(marks_[j].used, true)) marked_.push_back(j);
    return marks_[j];
  }

  const TraceIndex& index_;
  std::size_t i_ = 0;
  std::uint32_t t_ = 0;
  std::vector<Marks> marks_;            // per origin
  std::vector<std::size_t> marked_;     // those that are not as at the beginning
  std::vector<std::uint32_t> seen_in_;  // per gradient, the round in which it was collected
  std::vector<std::uint64_t> weight_;   // w_g
  std::vector<Number> weighted_;        // those that are not 0
  std::vector<Number> absent_, missing_;
  std::vector<std::size_t> reached_;  // origins that were looked at in this round
  std::uint32_t round_ = 0;
};

}  // namespace dasgd
