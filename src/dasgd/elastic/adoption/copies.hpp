// Models of the moments at which somebody went out of sight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/gradient_set.hpp"
#include "dasgd/elastic/adoption/adoption.hpp"

namespace dasgd::elastic {

/// Whoever comes back has, at first hand or through others, what this member held when somebody
/// went, and nothing of what it did afterwards. So the difference between what is held now and the
/// right copy is what the other lacks: one vector, however long it was away. Several copies,
/// because members go at different times: each holds all that the one before it holds.
class Copies {
 public:
  /// Memory is bounded: beyond the limit the two closest to each other become one.
  static constexpr std::size_t most = 8;
  explicit Copies(std::size_t limit = most) : limit_(limit) {}

  bool empty() const { return models_.empty(); }
  std::span<const Model> models() const { return models_; }

  /// A copy after the others, if it is not the same as the last.
  void add(Model model);
  /// These are on one side of the last copy here and may be on the other elsewhere: they stay in
  /// the log as long as that copy.
  void loosen(const GradientSet& names);
  /// Of these, the ones that may go from the log.
  GradientSet without_loose(GradientSet names) const;
  /// After names were given up: (A, s) - (B, t) wants B within A.
  void keep_within(const GradientSet& held);
  void clear();

 private:
  const std::size_t limit_;
  std::vector<Model> models_;
  std::vector<GradientSet> loose_;  // of each
};

}  // namespace dasgd::elastic
