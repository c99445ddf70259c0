// W of the trace certificate where delivery is causal, for many workers.
#pragma once

#include <cstdint>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/staleness/common_names.hpp"

namespace dasgd {

/// The weights of CertificateWeights for one worker whose gradients know nothing that has not
/// arrived: S_t is then a part of what the worker applied last, of known size. Mostly it is all
/// that was applied last but for what is of the gradient's own origin, which n comparisons decide:
/// then one number is noted where it begins, and one where the origin's own begin. Otherwise S_t is
/// found by looking back, in O(|S_t|) and memory that is read in a row.
class CausalWeights {
 public:
  /// What was applied and may still be missing from a gradient takes 40 bytes at every worker, and
  /// up to as much again is kept: up to this many workers.
  static constexpr std::size_t most_workers = 512;

  explicit CausalWeights(std::size_t workers)
      : forget_at_(workers), own_(workers), before_(workers, 0), known_(workers) {}

  /// The worker applies `gradient`, of this staleness, now; those of one origin in their order.
  void apply(const GradientFacts& gradient, std::uint64_t staleness);
  /// The largest w_g so far.
  std::uint64_t largest() const;

  struct Weighed {
    GradientName name;
    std::uint64_t weight = 0;
  };
  /// What later gradients may still lack, in the order of application, and what all of them know.
  std::vector<Weighed> kept() const;
  const CommonNames& known() const { return known_; }

 private:
  /// A place counts how many gradients were applied before.
  using Place = std::uint64_t;

  struct Applied {
    GradientName name;
    Place next_own = 0;          // where the next of its origin stands, once it is applied
    std::uint64_t from = 0;      // was noted for it and all that had been applied since,
    std::uint64_t own_from = 0;  // but not for it and those of its origin since
    std::uint64_t earlier = 0;   // what was noted in these before it was applied; differences wrap
  };

  /// The gradients of one origin. What it does not know moves on, and so do its own among that.
  struct Own {
    Place first = 0, last = 0;    // of its own among the last ones that it did not know, and of all
    std::uint64_t count = 0;      // from `first` on
    std::uint64_t noted = 0;      // the sum of all `own_from` so far
    std::uint64_t forgotten = 0;  // the part of it that stood at what is forgotten
  };

  Applied& at(Place place) { return applied_[static_cast<std::size_t>(place - gone_)]; }
  void append(GradientName name);
  /// Notes that a gradient lacks the last ones but for its origin's, if that is so.
  bool note_the_last(const GradientFacts& gradient, std::uint64_t staleness);
  void skip_first(Own& own);
  /// Whether a gradient that knows this has all that was applied before that place.
  bool has_all_before(Place place, const GradientSet& knows);
  void look_back(std::uint64_t staleness, const GradientSet& knows);
  void move_boundary(Place to);
  void forget();
  template <typename Visit>
  void for_each_weight(Visit&& visit) const;

  std::vector<Applied> applied_;
  Place gone_ = 0;                     // how many were applied and are forgotten
  std::size_t forget_at_;              // when there are so many, it is asked what all know
  std::vector<Own> own_;               // by origin
  std::uint64_t noted_ = 0;            // the sum of all `from` so far
  std::uint64_t forgotten_ = 0;        // the part of it that stood at what is forgotten
  Place boundary_ = 0;                 // and
  std::vector<std::uint32_t> before_;  // by origin, how many gradients were applied before it
  CommonNames known_;
  std::uint64_t largest_ = 0;  // of what is forgotten
};

}  // namespace dasgd
