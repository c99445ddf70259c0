// The sums of softmax regression, over rows wherever they are kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/samples.hpp"

namespace dasgd::softmax {

/// Rows of numbers with a class each.
class ClassifiedRows {
 public:
  virtual ~ClassifiedRows() = default;

  virtual std::size_t count() const = 0;
  /// Numbers per row.
  virtual std::size_t width() const = 0;
  /// These rows are copied next.
  virtual void fetch(Rows) const {}
  /// Writes the numbers of one row.
  virtual void copy(std::uint32_t row, std::span<float> to) const = 0;
  virtual std::uint32_t label(std::uint32_t row) const = 0;
  /// What `chunks_to_keep` made of all rows, where it is kept.
  virtual const float* kept_chunks() const { return nullptr; }
  /// How much a row counts in the loss.
  virtual float weight(std::uint32_t) const { return 1.0f; }
};

/// The numbers of all rows, as products take them fastest: those of some rows together, number
/// after number, and ones behind them.
std::vector<float> chunks_to_keep(const ClassifiedRows& data);

/// x holds a weight per number and class, number after number, then a bias per class.
struct Classifier {
  std::size_t classes = 0;

  /// Writes the mean gradient over `rows` and returns the mean cross-entropy.
  double gradient(const ClassifiedRows& data, std::span<const float> x, Rows rows,
                  std::span<float> gradient) const;
  /// The same over all rows, with sums in double.
  double full_gradient(const ClassifiedRows& data, std::span<const float> x,
                       std::span<float> gradient) const;
  /// The mean cross-entropy over all rows, and with it right and wrong answers.
  double loss(const ClassifiedRows& data, std::span<const float> x) const;
  PartFigures examine(const ClassifiedRows& data, std::span<const float> x) const;
  /// The largest eigenvalue of Z^T W Z / (2 m), Z the rows with a column of ones, W their weights
  /// (Boehning).
  double smoothness(const ClassifiedRows& data) const;
};

}  // namespace dasgd::softmax
