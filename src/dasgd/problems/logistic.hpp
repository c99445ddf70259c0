// f(x) = mean of log(1 + exp(-b_j a_j . x)): the second experiment of the paper (section 5).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/part.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/data/rows/libsvm.hpp"

namespace dasgd {

/// Rows in parts, with labels -1 and +1.
struct SignedParts {
  std::array<LabelledRows, 3> rows;  ///< by part; those for validation and test may be empty
  std::array<std::string, 3> from;   ///< where they come from
  std::optional<Preprocessing> preprocessing = {};
  std::array<double, 2> weights{1, 1};                  ///< for -1 and +1 in the loss
  std::shared_ptr<const PreparedSamples> samples = {};  ///< that these were, where they were others

  LabelledRows& operator[](Part part) { return rows[static_cast<std::size_t>(part)]; }
};

/// Logistic regression on sparse rows, without bias and regulariser. L = largest eigenvalue of
/// A^T A / (4 m).
class Logistic final : public Objective<double>, public Preprocessed, public HoldsSamples {
 public:
  explicit Logistic(LabelledRows train);
  explicit Logistic(SignedParts parts);

  /// The paper's instance: m = 100 rows of N(0, 1)^20 with labels drawn from {-1, +1}.
  static Logistic random(std::uint64_t seed, std::size_t rows = 100, std::size_t dimension = 20);

  std::size_t dimension() const override { return data().dimension; }
  std::size_t samples() const override { return data().rows(); }
  std::vector<std::uint32_t> labels() const override;
  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override;
  HeldOut evaluate(std::span<const double> x) const override;
  std::optional<std::size_t> right_answers(std::span<const double> x, Rows rows) const override;
  std::string evaluated_part() const override { return std::string(to_string(judged())); }
  std::vector<PartFigures> examine(std::span<const double> x) const override;
  KnownConstants known() const override;
  const Preprocessing* preprocessing() const override {
    return parts_.preprocessing ? &*parts_.preprocessing : nullptr;
  }
  const PreparedSamples* prepared() const override { return parts_.samples.get(); }

  /// The training part.
  const LabelledRows& data() const { return parts_.rows[0]; }

 private:
  RowView row(Part part, std::size_t r) const;
  const LabelledRows& of(Part part) const { return parts_.rows[static_cast<std::size_t>(part)]; }
  Part judged() const { return of(Part::validation).rows() > 0 ? Part::validation : Part::train; }
  PartFigures figures(Part part, std::span<const double> x) const;
  double weight(double label) const { return parts_.weights[label > 0 ? 1 : 0]; }

  const SignedParts parts_;
  const std::array<bool, 3> dense_;  // every row has every feature: no need to look at columns
};

}  // namespace dasgd
