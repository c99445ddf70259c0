// f(x) = mean of log(1 + exp(-b_j a_j . x)): the second experiment of the paper (section 5).
#pragma once

#include <cstdint>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/rows/libsvm.hpp"

namespace dasgd {

/// Logistic regression on sparse rows, without regulariser. L = largest eigenvalue of A^T A / (4
/// m).
class Logistic final : public Objective<double> {
 public:
  explicit Logistic(LabelledRows data);

  /// The paper's instance: m = 100 rows of N(0, 1)^20 with labels drawn from {-1, +1}.
  static Logistic random(std::uint64_t seed, std::size_t rows = 100, std::size_t dimension = 20);

  std::size_t dimension() const override { return data_.dimension; }
  std::size_t samples() const override { return data_.rows(); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override;
  /// On the training rows.
  HeldOut evaluate(std::span<const double> x) const override;
  KnownConstants known() const override;

  const LabelledRows& data() const { return data_; }

 private:
  RowView row(std::size_t r) const;

  LabelledRows data_;
  bool dense_;  // every row has every feature: no need to look at columns
};

}  // namespace dasgd
