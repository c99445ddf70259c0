// W of the trace certificate where delivery is causal, for many workers.
#pragma once

#include <cstdint>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/staleness/known_by_all.hpp"

namespace dasgd {

/// The weights of CertificateWeights for one worker whose gradients know nothing that has not
/// arrived: S_t is then a part of what the worker applied last, of known size. Mostly it is all
/// that was applied last but for what is of the gradient's own origin, which n comparisons tell:
/// then one number is noted where it begins, and one where the origin's own begin. Otherwise S_t is
/// found by looking back, in O(|S_t|) and memory that is read in a row.
class CausalWeights {
 public:
  /// What was applied and may still be missing from a gradient takes 56 bytes at every worker: up
  /// to this many workers it is kept.
  static constexpr std::size_t most_workers = 512;

  explicit CausalWeights(std::size_t workers)
      : own_(workers), before_(workers, 0), known_(workers) {}

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
  const KnownByAll& known() const { return known_; }

 private:
  struct Applied {
    GradientName name;
    std::uint64_t single = 0;       // was noted for it alone
    std::uint64_t from = 0;         // was noted for it and all that had been applied since,
    std::uint64_t own_from = 0;     // but not for it and those of its origin since
    std::uint64_t earlier = 0;      // the sums of all that was noted in these two before it was
    std::uint64_t own_earlier = 0;  // applied, the second of its origin
  };

  /// The gradients of one origin.
  struct Own {
    std::vector<std::uint64_t> places;  // how many gradients were applied before each
    std::size_t gone = 0;               // so many of these are forgotten
    std::uint64_t noted = 0;            // the sum of all `own_from` so far
    std::uint64_t forgotten = 0;        // the part of it that stood at what is forgotten

    void forget_the_first(std::uint64_t own_from);
  };

  /// Notes that a gradient lacks the last ones but for its origin's, if that is so.
  bool note_the_last(const GradientFacts& gradient, std::uint64_t staleness);
  /// How many of an origin's stand among the last ones, which without them begin at that place.
  static std::size_t own_among_last(const Own& own, std::uint64_t without_own);
  /// Whether a gradient that knows this has all that was applied before that place.
  bool has_all_before(std::size_t place, const GradientSet& knows);
  void look_back(std::uint64_t staleness, const GradientSet& knows);
  void move_boundary(std::size_t to);
  void forget();
  template <typename Visit>
  void for_each_weight(Visit&& visit) const;

  std::vector<Applied> applied_;
  std::uint64_t gone_ = 0;             // how many were applied and are forgotten
  std::vector<Own> own_;               // by origin
  std::uint64_t noted_ = 0;            // the sum of all `from` so far
  std::uint64_t forgotten_ = 0;        // the part of it that stood at what is forgotten
  std::size_t boundary_ = 0;           // a place in `applied_`, and
  std::vector<std::uint32_t> before_;  // by origin, how many gradients were applied before it
  KnownByAll known_;
  std::uint64_t largest_ = 0;  // of what is forgotten
};

}  // namespace dasgd
