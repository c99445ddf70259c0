// Linear regression: f(x) = mean of (a . w + b - y)^2, or of Huber's loss of the same difference.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"

namespace dasgd {

/// x holds a weight per number, then the bias b. Targets are as the preprocessing scales them. With
/// Z the samples and a column of ones: L = 2 lambda_max(Z^T Z / m) for squares, half of it for
/// Huber's loss, which is r^2 / 2 up to |r| = 1 and |r| - 1/2 beyond. Of squares the least value is
/// known: that of the solution of the normal equations.
class Linear final : public Objective<double>, public Preprocessed, public HoldsSamples {
 public:
  /// Targets must be numbers.
  explicit Linear(std::shared_ptr<const PreparedSamples> samples, bool huber = false);

  std::size_t dimension() const override { return width_ + 1; }
  std::size_t samples() const override { return samples_->count(Part::train); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override;
  double loss(std::span<const double> x) const override { return figures(Part::train, x).loss; }
  HeldOut evaluate(std::span<const double> x) const override {
    return {std::nullopt, figures(judged(), x).loss};
  }
  std::string evaluated_part() const override { return std::string(to_string(judged())); }
  std::vector<PartFigures> examine(std::span<const double> x) const override;
  KnownConstants known() const override;
  const Preprocessing* preprocessing() const override { return samples_->preprocessing(); }
  const PreparedSamples* prepared() const override { return samples_.get(); }

  /// The x with the least mean of squares; nothing where there are too many numbers to compute it.
  std::optional<std::vector<double>> least_squares() const;

 private:
  /// Calls visit(numbers, target) for a sample, as it is learnt.
  template <typename Visit>
  void look_at(Part part, std::size_t place, std::vector<float>& row, Visit&& visit) const;
  PartFigures figures(Part part, std::span<const double> x) const;
  Part judged() const {
    return samples_->count(Part::validation) > 0 ? Part::validation : Part::train;
  }

  const std::shared_ptr<const PreparedSamples> samples_;
  const std::size_t width_;
  const bool huber_;
};

}  // namespace dasgd
