// The staleness at a worker where nothing was ever missing, without looking at any set.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dasgd/staleness/trace_index.hpp"

namespace dasgd {

/// The applications of one worker i. If D(g) was in G_i^t at every one of them, then |S| = |S_hat|
/// = t - s, and a gradient h is in S exactly where t is above its place at i and s is not above its
/// place at the origin of g. Gradients of one origin come in order, with ascending s and t, so
/// these applications are neighbours among those of that origin: w_h is a sum of differences of
/// sums. Takes lines x workers x log(lines), however large the sets are.
class CausalReplay {
 public:
  CausalReplay(const TraceIndex& index, std::size_t i);

  /// Whether nothing was ever missing; else the rest has no meaning.
  bool holds() const { return holds_; }
  /// Whether it is worth while: enumerating the sets would take longer.
  bool saves_time() const;
  /// t - s of every application.
  const std::vector<std::uint64_t>& S() const { return S_; }
  /// The largest w_h.
  std::uint64_t W() const;

 private:
  struct FromOrigin {
    std::size_t origin;
    std::vector<std::uint32_t> t, s;     // of its applications, both ascend
    std::vector<std::uint64_t> sums{0};  // of their S, up to each
    std::uint32_t missing_from = 0;      // the first in the origin's order that i lacks
  };
  FromOrigin& from(std::size_t origin);
  bool add(std::uint32_t t);

  const TraceIndex& index_;
  const std::size_t i_;
  std::vector<FromOrigin> from_;                        // those of whom i has heard
  std::unordered_map<std::size_t, std::size_t> place_;  // in from_
  std::vector<std::uint64_t> S_;
  std::uint64_t sum_ = 0;
  bool holds_ = true;
};

}  // namespace dasgd
