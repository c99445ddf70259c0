// One staleness for all linear methods: model = x0 - eta * sum of c(g) g, and S of a gradient is
// the L1 distance between the coefficients c of the model that it changes and of the model at which
// it was computed. It is |S| for DASGD, whose coefficients are 0 and 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/base/input_error.hpp"

namespace dasgd {

/// Vectors get a coordinate more for each gradient to come: it is 1 in that gradient and 0
/// elsewhere. Whatever linear thing a rival does to vectors, these coordinates then hold -eta * c.
template <typename Real>
class StalenessMeter {
 public:
  /// Measures the first `most` gradients of a run; 0: none.
  StalenessMeter(std::size_t dimension, std::size_t most, double eta)
      : dimension_(dimension), most_(most), eta_(eta) {}

  std::size_t extended() const { return dimension_ + most_; }

  /// A gradient is computed at `point`: writes its coordinates.
  void computing(std::span<const Real> point, std::span<Real> gradient) {
    if (most_ == 0) return;
    const auto marks = gradient.subspan(dimension_);
    std::fill(marks.begin(), marks.end(), Real{0});
    if (used_at_.size() == most_) return;
    marks[used_at_.size()] = Real{1};
    const auto known = point.subspan(dimension_, used_at_.size());
    used_at_.emplace_back(known.begin(), known.end());
  }

  void updating(std::span<const Real> model, std::span<const Real> gradients) {
    if (most_ == 0) return;
    if (std::min(model.size(), gradients.size()) < extended())
      throw InputError("a rival reports an update whose length differs from that of its model");
    const auto marks = gradients.subspan(dimension_);
    for (std::size_t k = 0; k < used_at_.size(); ++k)
      if (marks[k] != Real{0}) add(distance(model.subspan(dimension_), used_at_[k]));
  }

  std::uint64_t updates() const { return updates_; }
  double mean() const { return updates_ > 0 ? sum_ / static_cast<double>(updates_) : 0; }
  double max() const { return max_; }

 private:
  double distance(std::span<const Real> model, const std::vector<Real>& used) const {
    double sum = 0;
    for (std::size_t k = 0; k < used_at_.size(); ++k)
      sum += std::abs(static_cast<double>(model[k]) - (k < used.size() ? used[k] : Real{0}));
    // A coefficient is a whole number of etas for most methods, but for rounding.
    return std::round(sum / eta_ * 1e6) / 1e6;
  }
  void add(double S) {
    sum_ += S;
    max_ = std::max(max_, S);
    ++updates_;
  }

  const std::size_t dimension_, most_;
  const double eta_;
  std::vector<std::vector<Real>> used_at_;  // of each gradient, the coordinates of its point
  double sum_ = 0, max_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace dasgd
