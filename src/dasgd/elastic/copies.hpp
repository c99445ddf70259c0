// Models of the moments at which somebody went out of sight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/gradient_set.hpp"
#include "dasgd/elastic/adoption.hpp"

namespace dasgd::elastic {

/// Whoever comes back has, at first hand or through others, what this member held when somebody
/// went, and nothing of what it did afterwards. So the difference between what is held now and the
/// right copy is what the other lacks: one vector, however long it was away. Several copies,
/// because members go at different times: each holds all that the one before it holds.
class Copies {
 public:
  /// Memory is bounded: beyond this the two closest to each other become one.
  static constexpr std::size_t most = 8;

  bool empty() const { return models_.empty(); }
  std::span<const Model> models() const { return models_; }

  void add(Model model);
  /// These are on one side of a copy here and may be on the other elsewhere: they stay in the log.
  void loosen(const GradientSet& names) { loose_.unite(names); }
  bool is_loose(GradientName name) const { return loose_.contains(name); }
  /// After names were given up: (A, s) - (B, t) wants B within A.
  void keep_within(const GradientSet& held);
  void clear();

 private:
  std::vector<Model> models_;
  GradientSet loose_;
};

}  // namespace dasgd::elastic
