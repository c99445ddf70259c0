#include "dasgd/staleness/trace_check.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/staleness/clock_replay.hpp"
#include "dasgd/staleness/set_replay.hpp"
#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {
namespace {

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

// Enumerating the sets takes time by their sizes, at least the sum of |t - s|; clocks take time and
// memory by the number of workers.
bool clocks_are_worth_it(const TraceIndex& index) {
  std::size_t lines = 0;
  std::uint64_t staleness = 0;
  for (std::size_t i = 0; i < index.workers(); ++i) {
    for (std::uint64_t t = 0; t < index.order(i).size(); ++t, ++lines) {
      const std::uint64_t s = index.origin_step(index.order(i)[t]);
      staleness += std::max(t, s) - std::min(t, s);
    }
  }
  constexpr std::size_t cells_per_line = 64;
  return staleness > lines * index.workers() / 4 &&
         index.gradients() * index.workers() <= cells_per_line * lines;
}

void recompute(const std::vector<TraceLine>& trace, const TraceIndex& index, TraceCheck& check) {
  std::vector<ReplayedWorker> replayed;
  const auto clocks = clocks_are_worth_it(index) ? ClockReplay::of(index) : std::nullopt;
  SetReplay sets(index);
  for (std::size_t i = 0; i < index.workers(); ++i) {
    replayed.push_back(clocks ? clocks->worker(i) : sets.worker(i));
    const ReplayedWorker& worker = replayed.back();
    StalenessStatistics S, S_hat;
    for (const std::uint64_t size : worker.S) S.add(size);
    for (const std::uint64_t size : worker.S_hat) S_hat.add(size);
    check.noncausal_applications += worker.noncausal;
    check.sum_S.push_back(S.sum);
    check.staleness.add_worker(S, S_hat, worker.W);
  }
  for (const TraceLine& a : trace) {
    const ReplayedWorker& worker = replayed[dasgd::index(a.worker)];
    check.events.push_back({a.worker, a.step, worker.S[a.step], worker.S_hat[a.step]});
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
