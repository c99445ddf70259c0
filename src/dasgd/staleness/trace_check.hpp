// The referee: recomputes S and S_hat of every application of a trace and audits its invariants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/staleness/statistics.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd {

/// What is wrong with a trace, and where.
struct Violation {
  std::size_t line = 0;
  std::string what;
  bool of_whole_trace = false;  ///< known only at the end: a gradient that somebody never applied
};

/// Lines first, in order; then what concerns the whole trace.
void sort_violations(std::vector<Violation>& violations);

struct TraceCheck {
  struct Event {
    WorkerId worker{};
    std::uint64_t step = 0, S = 0, S_hat = 0;
  };

  std::vector<Violation> violations;  ///< by line; empty means that the trace is sound
  std::size_t workers = 0;
  std::uint64_t gradients = 0;
  std::vector<std::uint32_t> gradients_by_worker;
  std::uint64_t noncausal_applications = 0;
  bool drained = false;  ///< every gradient was applied by every worker
  StalenessSummary staleness;
  std::vector<std::uint64_t> sum_S;  ///< per worker
  std::vector<Event> events;         ///< in file order; empty if the trace contradicts itself

  bool ok() const { return violations.empty(); }
  bool causal() const { return noncausal_applications == 0; }
};

/// Needs nothing but the contract's fields, in any interleaving of workers. Audits: consecutive
/// step counters; each gradient applied once per worker and everywhere; never before it was
/// computed; own gradients applied at once; S and S_hat as written, where they are written; a
/// worker's times in order. Memory is in proportion to the trace, time to its lines and staleness.
/// Times of different workers may be wrong against each other by `tolerance`.
TraceCheck check_trace(const std::vector<TraceLine>& trace, Nanoseconds tolerance = 0);

}  // namespace dasgd
