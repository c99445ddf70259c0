// The steps of all simulated workers: lines of the trace, and the sum of their |S|.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "dasgd/run/options.hpp"
#include "dasgd/sim/agent.hpp"

namespace dasgd {

/// Lines go to the trace many at a time.
class StepLog {
 public:
  explicit StepLog(TraceSink* trace) : trace_(trace) {}

  template <typename Real>
  void add(Agent<Real>& agent, const StepReport& report, Nanoseconds time) {
    const double before = static_cast<double>(agent.run.S().sum);
    agent.run.record(report, agent.began, time, trace_ ? &lines_ : nullptr);
    sum_S_ += static_cast<double>(agent.run.S().sum) - before;
  }
  bool is_full() const { return lines_.size() >= 4096; }
  /// Returns why the trace cannot be written, if it cannot.
  std::exception_ptr flush(Nanoseconds now) {
    if (!trace_) return nullptr;
    trace_->add(WorkerId{0}, std::exchange(lines_, {}), now);
    for (std::size_t i = 1; i < trace_->sources(); ++i) trace_->add(worker_id(i), {}, now);
    return trace_->failure();
  }
  double sum_S() const { return sum_S_; }  ///< of all applications

 private:
  TraceSink* const trace_;
  std::vector<TraceLine> lines_;
  double sum_S_ = 0;
};

}  // namespace dasgd
