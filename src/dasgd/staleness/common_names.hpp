// What every later gradient knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dasgd/core/gradient_set.hpp"
#include "dasgd/staleness/prefixes.hpp"

namespace dasgd {

/// Goes in rounds, each until a gradient of every origin has been noted: the next gradients of an
/// origin know all that its last one knew, so later gradients of all origins know what the least
/// knowing of a round did. Takes 4 n bytes.
class CommonNames {
 public:
  explicit CommonNames(std::size_t workers) : heard_(workers, false), least_(workers, nobody) {}

  /// Notes a gradient; those of one origin come in their order. True when a round has ended: then
  /// `prefix` has changed.
  bool note(WorkerId origin, const GradientSet& compute_set) {
    if (heard_[index(origin)]) return false;  // it knows all that the first one knew
    heard_[index(origin)] = true;
    const auto& prefixes = compute_set.prefixes();
    const std::size_t shared = std::min(least_.size(), prefixes.size());
    keep_least(std::span(least_).first(shared), std::span(prefixes).first(shared));
    std::fill(least_.begin() + static_cast<std::ptrdiff_t>(shared), least_.end(), 0);
    if (++origins_heard_ < heard_.size()) return false;
    known_ = least_;
    heard_.assign(heard_.size(), false);
    least_.assign(least_.size(), nobody);
    origins_heard_ = 0;
    return true;
  }

  /// How many of the first gradients of this origin all know.
  std::uint32_t prefix(WorkerId origin) const { return known_.empty() ? 0 : known_[index(origin)]; }

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  std::vector<bool> heard_;  // per origin, in this round
  std::size_t origins_heard_ = 0;
  std::vector<std::uint32_t> least_, known_;  // per origin: in this round, and in the last
};

}  // namespace dasgd
