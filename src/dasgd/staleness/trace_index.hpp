// A trace by worker and by gradient, with the audit of its invariants.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "dasgd/staleness/trace_check.hpp"

namespace dasgd {

/// Gradients get dense numbers; every worker's order of application is a list of them. Takes memory
/// in proportion to the trace, of which every named gradient must have its own line.
class TraceIndex {
 public:
  using Number = std::uint32_t;
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  /// Fills the index and appends what is wrong with the trace to `violations`.
  TraceIndex(const std::vector<TraceLine>& trace, Nanoseconds tolerance,
             std::vector<Violation>& violations);

  std::size_t workers() const { return order_.size(); }
  std::size_t gradients() const { return origin_.size(); }
  std::uint32_t gradients_of(std::size_t i) const { return first_[i + 1] - first_[i]; }
  /// Whether S can be computed: orders are consistent and every compute set is known.
  bool consistent() const { return consistent_; }
  /// Every gradient was applied by every worker.
  bool drained() const { return drained_; }

  /// The gradients that worker i applied, in order: G_i^t is its first t entries.
  const std::vector<Number>& order(std::size_t i) const { return order_[i]; }
  /// The step at which worker i applied gradient g, or `never`.
  std::uint32_t position(std::size_t i, Number g) const {
    if (is_dense_) return dense_[i][g];
    const auto at = sparse_[i].find(g);
    return at == sparse_[i].end() ? never : at->second;
  }
  std::size_t origin(Number g) const { return origin_[g]; }
  /// s of gradient g: D(g) = the first s entries of its origin's order.
  std::uint32_t origin_step(Number g) const { return origin_step_[g]; }
  /// The k-th gradient of worker j, or `never` if the trace has none.
  Number number(std::size_t j, std::uint32_t k) const {
    return k < first_[j + 1] - first_[j] ? first_[j] + k : never;
  }

 private:
  void set_position(std::size_t i, Number g, std::uint32_t position);
  void audit_times(const std::vector<TraceLine>& trace, std::vector<Violation>& violations);
  void number_gradients(const std::vector<TraceLine>& trace);
  void file(const TraceLine& a, std::vector<Violation>& violations);
  void audit_origins(const std::vector<TraceLine>& trace, std::vector<Violation>& violations);
  void audit_order(const std::vector<TraceLine>& trace, Nanoseconds tolerance,
                   std::vector<Violation>& violations);
  void audit_delivery(std::vector<Violation>& violations);

  std::vector<Number> first_;  // per worker, the number of its gradient 0
  std::vector<std::uint32_t> origin_, origin_step_;
  std::vector<std::vector<Number>> order_;
  std::vector<std::size_t> applied_;  // per worker, how many different ones
  // Positions by worker and gradient: a table where most of it is used, as in every run that ended.
  bool is_dense_ = true;
  std::vector<std::vector<std::uint32_t>> dense_;
  std::vector<std::unordered_map<Number, std::uint32_t>> sparse_;
  std::vector<const TraceLine*> computed_;  // per gradient, its application at the origin
  bool consistent_ = true;
  bool drained_ = true;
};

}  // namespace dasgd
