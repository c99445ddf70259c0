#include "dasgd/staleness/trace_check.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {
namespace {

using Number = TraceIndex::Number;

/// Recomputes the applications of one worker i in order, with the global view of the index.
class WorkerReplay {
 public:
  WorkerReplay(const TraceIndex& index, std::size_t i)
      : index_(index),
        i_(i),
        prefix_(index.workers(), 0),
        present_from_(index.workers(), 0),
        missing_from_(index.workers(), 0),
        seen_in_(index.gradients(), 0),
        weight_(index.gradients(), 0) {}

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
    for (std::uint32_t p = present_from_[j]; p < t_; ++p)
      if (index_.position(j, here[p]) >= s) add(here[p], absent_);
    for (std::uint32_t p = missing_from_[j]; p < s; ++p)
      if (index_.position(i_, there[p]) >= t_) add(there[p], missing_);
  }

  void add(Number g, std::vector<Number>& to) {
    if (seen_in_[g] == round_) return;
    seen_in_[g] = round_;
    to.push_back(g);
  }

  // Moves the two marks of origin j past what no later gradient of j can bring into S.
  void advance(std::size_t j) {
    const Number next = index_.number(j, prefix_[j]);
    const std::uint32_t s = next == TraceIndex::never ? 0 : index_.origin_step(next);
    const auto& here = index_.order(i_);
    const auto& there = index_.order(j);
    auto& present = present_from_[j];
    while (present < t_ && index_.position(j, here[present]) < s) ++present;
    auto& missing = missing_from_[j];
    while (missing < there.size() && index_.position(i_, there[missing]) < t_) ++missing;
  }

  void weigh(std::uint64_t S) {
    for (const auto* part : {&absent_, &missing_}) {
      for (const Number g : *part) {
        weight_[g] += S;
        largest_weight_ = std::max(largest_weight_, weight_[g]);
      }
    }
  }

  void applied(Number g) {
    std::uint32_t& prefix = prefix_[index_.origin(g)];
    for (Number next = index_.number(index_.origin(g), prefix);
         next != TraceIndex::never && index_.position(i_, next) < t_;
         next = index_.number(index_.origin(g), ++prefix)) {
    }
  }

  const TraceIndex& index_;
  const std::size_t i_;
  std::uint32_t t_ = 0;
  std::vector<std::uint32_t> prefix_;        // per origin, how many of its gradients are applied
  std::vector<std::uint32_t> present_from_;  // per origin, a position in i's own order
  std::vector<std::uint32_t> missing_from_;  // per origin, a position in the origin's order
  std::vector<std::uint32_t> seen_in_;       // per gradient, the round in which it was collected
  std::vector<std::uint64_t> weight_;        // w_g
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
  for (const TraceLine& a : trace) {
    const std::size_t named = std::max(index(a.worker), index(a.name.origin));
    if (named >= gap)
      check.violations.push_back({a.line, "worker " + std::to_string(named) +
                                              " is named, but worker " + std::to_string(gap) +
                                              " applies nothing"});
  }
  return check.ok();
}

void recompute(const std::vector<TraceLine>& trace, const TraceIndex& index, TraceCheck& check) {
  std::vector<std::vector<TraceCheck::Event>> events(index.workers());
  for (std::size_t i = 0; i < index.workers(); ++i) {
    WorkerReplay replay(index, i);
    StalenessStatistics S, S_hat;
    for (std::uint64_t t = 0; t < index.order(i).size(); ++t) {
      const auto result = replay.next();
      S.add(result.S);
      S_hat.add(result.S_hat);
      check.noncausal_applications += result.causal ? 0 : 1;
      events[i].push_back({worker_id(i), t, result.S, result.S_hat});
    }
    check.sum_S.push_back(S.sum);
    check.staleness.add_worker(S, S_hat, replay.W());
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
