#include "dasgd/staleness/trace_check.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/staleness/causal_replay.hpp"
#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {
namespace {

using Number = TraceIndex::Number;

/// Recomputes the applications of one worker i after the other, in order, with the global view of
/// the index. What a worker takes is in proportion to its lines and to what is stale there.
class Replay {
 public:
  explicit Replay(const TraceIndex& index)
      : index_(index),
        marks_(index.workers()),
        seen_in_(index.gradients(), 0),
        weight_(index.gradients(), 0) {}

  void begin(std::size_t i) {
    i_ = i;
    t_ = 0;
    largest_weight_ = 0;
    for (const std::size_t j : marked_) marks_[j] = {};
    for (const Number g : weighted_) weight_[g] = 0;
    marked_.clear();
    weighted_.clear();
  }

  struct Result {
    std::uint64_t S, S_hat;
    bool causal;
  };

  /// The next application of worker i.
  Result next() {
    const Number g = index_.order(i_)[t_];
    absent_.clear();
    missing_.clear();
    ++round_;
    collect(g);
    const std::uint64_t S = absent_.size() + missing_.size();
    weigh(S);
    const bool causal = missing_.empty();
    // S_hat: everything that is missing brings its own compute set along.
    for (std::size_t k = 0; k < missing_.size(); ++k) collect(missing_[k]);
    const std::uint64_t S_hat = absent_.size() + missing_.size();
    ++t_;
    applied(g);
    return {S, S_hat, causal};
  }

  std::uint64_t W() const { return largest_weight_; }

 private:
  // Adds G_i^t \ D(h) to absent_ and D(h) \ G_i^t to missing_, each member once.
  void collect(Number h) {
    const std::size_t j = index_.origin(h);
    const std::uint32_t s = index_.origin_step(h);
    const auto& here = index_.order(i_);
    const auto& there = index_.order(j);
    advance(j);
    for (std::uint32_t p = marks_[j].present_from; p < t_; ++p)
      if (index_.position(j, here[p]) >= s) add(here[p], absent_);
    for (std::uint32_t p = marks_[j].missing_from; p < s; ++p)
      if (index_.position(i_, there[p]) >= t_) add(there[p], missing_);
  }

  void add(Number g, std::vector<Number>& to) {
    if (seen_in_[g] == round_) return;
    seen_in_[g] = round_;
    to.push_back(g);
  }

  // Moves the two marks of origin j past what no later gradient of j can bring into S.
  void advance(std::size_t j) {
    Marks& marks = mark(j);
    const Number next = index_.number(j, marks.prefix);
    const std::uint32_t s = next == TraceIndex::never ? 0 : index_.origin_step(next);
    const auto& here = index_.order(i_);
    const auto& there = index_.order(j);
    auto& present = marks.present_from;
    while (present < t_ && index_.position(j, here[present]) < s) ++present;
    auto& missing = marks.missing_from;
    while (missing < there.size() && index_.position(i_, there[missing]) < t_) ++missing;
  }

  void weigh(std::uint64_t S) {
    for (const auto* part : {&absent_, &missing_}) {
      for (const Number g : *part) {
        if (weight_[g] == 0) weighted_.push_back(g);
        weight_[g] += S;
        largest_weight_ = std::max(largest_weight_, weight_[g]);
      }
    }
  }

  void applied(Number g) {
    std::uint32_t& prefix = mark(index_.origin(g)).prefix;
    for (Number next = index_.number(index_.origin(g), prefix);
         next != TraceIndex::never && index_.position(i_, next) < t_;
         next = index_.number(index_.origin(g), ++prefix)) {
    }
  }

  struct Marks {
    std::uint32_t prefix = 0;        // how many of the origin's gradients are applied
    std::uint32_t present_from = 0;  // a position in i's own order
    std::uint32_t missing_from = 0;  // a position in the origin's order
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
  std::uint32_t round_ = 0;
  std::uint64_t largest_weight_ = 0;
};

void compare(const TraceLine& a, const TraceCheck::Event& event, TraceCheck& check) {
  const auto differs = [&](const char* name, std::uint64_t written, std::uint64_t exact) {
    check.violations.push_back({a.line, std::string(name) + " is written as " +
                                            std::to_string(written) + " and is " +
                                            std::to_string(exact)});
  };
  if (a.S && *a.S != event.S) differs("S", *a.S, event.S);
  if (a.S_hat && *a.S_hat != event.S_hat) differs("S_hat", *a.S_hat, event.S_hat);
}

// Workers and own gradients are numbered without gaps and each has a line. A number that cannot be
// is an error, and must not make the index allocate for it.
bool numbers_are_possible(const std::vector<TraceLine>& trace, TraceCheck& check) {
  std::vector<bool> seen(trace.size(), false);
  for (const TraceLine& a : trace) {
    const std::size_t largest = std::max(
        {index(a.worker), index(a.name.origin), static_cast<std::size_t>(a.name.sequence)});
    if (largest >= trace.size()) {
      check.violations.push_back({a.line, "number " + std::to_string(largest) +
                                              " is larger than a trace of this length can have"});
    } else {
      seen[index(a.worker)] = true;
    }
  }
  if (!check.ok()) return false;
  const auto gap =
      static_cast<std::size_t>(std::find(seen.begin(), seen.end(), false) - seen.begin());
  std::vector<std::uint32_t> own(trace.size(), 0);
  for (const TraceLine& a : trace)
    if (a.worker == a.name.origin) ++own[index(a.worker)];
  for (const TraceLine& a : trace) {
    const std::size_t named = std::max(index(a.worker), index(a.name.origin));
    if (named < gap && a.name.sequence >= own[index(a.name.origin)])
      check.violations.push_back({a.line, "gradient (" + std::to_string(index(a.name.origin)) +
                                              ", " + std::to_string(a.name.sequence) +
                                              ") was never computed by its origin"});
    if (named >= gap)
      check.violations.push_back({a.line, "worker " + std::to_string(named) +
                                              " is named, but worker " + std::to_string(gap) +
                                              " applies nothing"});
  }
  return check.ok();
}

void recompute(const std::vector<TraceLine>& trace, const TraceIndex& index, TraceCheck& check) {
  std::vector<std::vector<TraceCheck::Event>> events(index.workers());
  Replay replay(index);
  for (std::size_t i = 0; i < index.workers(); ++i) {
    const CausalReplay causal(index, i);
    const bool quickly = causal.holds() && causal.saves_time();
    replay.begin(i);
    StalenessStatistics S, S_hat;
    for (std::uint64_t t = 0; t < index.order(i).size(); ++t) {
      const auto result =
          quickly ? Replay::Result{causal.S()[t], causal.S()[t], true} : replay.next();
      S.add(result.S);
      S_hat.add(result.S_hat);
      check.noncausal_applications += result.causal ? 0 : 1;
      events[i].push_back({worker_id(i), t, result.S, result.S_hat});
    }
    check.sum_S.push_back(S.sum);
    check.staleness.add_worker(S, S_hat, quickly ? causal.W() : replay.W());
  }
  for (const TraceLine& a : trace) {
    check.events.push_back(events[dasgd::index(a.worker)][a.step]);
    compare(a, check.events.back(), check);
  }
}

}  // namespace

TraceCheck check_trace(const std::vector<TraceLine>& trace, Nanoseconds tolerance) {
  TraceCheck check;
  if (!numbers_are_possible(trace, check)) return check;
  const TraceIndex index(trace, tolerance, check.violations);
  check.workers = index.workers();
  for (std::size_t i = 0; i < index.workers(); ++i)
    check.gradients_by_worker.push_back(index.gradients_of(i));
  check.gradients = index.gradients();
  check.drained = index.drained();
  if (index.consistent()) recompute(trace, index, check);
  sort_violations(check.violations);
  return check;
}

void sort_violations(std::vector<Violation>& violations) {
  std::stable_sort(
      violations.begin(), violations.end(), [](const Violation& a, const Violation& b) {
        return std::pair(a.of_whole_trace, a.line) < std::pair(b.of_whole_trace, b.line);
      });
}

}  // namespace dasgd
