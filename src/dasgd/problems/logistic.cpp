#include "dasgd/problems/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dasgd/problems/largest_eigenvalue.hpp"
#include "dasgd/problems/logistic_terms.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

namespace {

bool is_dense(const LabelledRows& rows) {
  return rows.values.size() == rows.rows() * rows.dimension;
}

SignedParts only_training(LabelledRows train) {
  SignedParts parts;
  parts[Part::train] = std::move(train);
  return parts;
}

}  // namespace

Logistic::Logistic(LabelledRows train) : Logistic(only_training(std::move(train))) {}

Logistic::Logistic(SignedParts parts)
    : parts_(std::move(parts)),
      dense_{is_dense(parts_.rows[0]), is_dense(parts_.rows[1]), is_dense(parts_.rows[2])} {}

Logistic Logistic::random(std::uint64_t seed, std::size_t rows, std::size_t dimension) {
  Random features(seed, Purpose::problem_matrix), labels(seed, Purpose::problem_labels);
  LabelledRows data;
  data.dimension = dimension;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < dimension; ++c) {
      data.columns.push_back(static_cast<std::uint32_t>(c));
      data.values.push_back(features.normal());
    }
    data.row_start.push_back(data.columns.size());
    data.labels.push_back(labels.below(2) == 0 ? -1 : 1);
  }
  return Logistic(std::move(data));
}

RowView Logistic::row(Part part, std::size_t r) const {
  const LabelledRows& rows = of(part);
  const std::size_t first = rows.row_start[r], size = rows.row_start[r + 1] - first;
  return {{rows.columns.data() + first, size},
          {rows.values.data() + first, size},
          rows.labels[r],
          dense_[static_cast<std::size_t>(part)]};
}

double Logistic::gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const {
  return logistic::mean_gradient(
      rows.size(), [&](std::size_t k) { return row(Part::train, rows[k]); }, x, gradient,
      parts_.weights);
}

std::vector<std::uint32_t> Logistic::labels() const {
  std::vector<std::uint32_t> found;
  for (const double label : data().labels) found.push_back(label > 0 ? 1 : 0);
  return found;
}

HeldOut Logistic::evaluate(std::span<const double> x) const {
  return figures(judged(), x).held_out();
}

std::optional<std::size_t> Logistic::right_answers(std::span<const double> x, Rows rows) const {
  const auto row_at = [&](std::size_t k) { return row(Part::train, rows[k]); };
  return logistic::count_right(rows.size(), row_at, x);
}

std::vector<PartFigures> Logistic::examine(std::span<const double> x) const {
  std::vector<PartFigures> found;
  for (const Part part : all_parts)
    if (of(part).rows() > 0 && (part != Part::train || judged() == part))
      found.push_back(figures(part, x));
  return found;
}

PartFigures Logistic::figures(Part part, std::span<const double> x) const {
  PartFigures found{.part = std::string(to_string(part)),
                    .from = parts_.from[static_cast<std::size_t>(part)],
                    .samples = of(part).rows(),
                    .counts = ClassCounts(2)};
  found.classes =
      parts_.preprocessing ? parts_.preprocessing->classes : std::vector<std::string>{"-1", "1"};
  logistic::LossSum loss[2];
  for (std::size_t r = 0; r < found.samples; ++r) {
    const RowView row = this->row(part, r);
    const double m = logistic::margin(row, x);
    const std::size_t label = row.label > 0 ? 1 : 0;
    const bool above = m * row.label > 0;  // which is what `dasgd predict` sees
    found.counts.add(label, above ? 1 : 0);
    loss[label].add(m, std::exp(-std::fabs(m)));
  }
  found.loss = (loss[0].value() * parts_.weights[0] + loss[1].value() * parts_.weights[1]) /
               static_cast<double>(found.samples);
  return found;
}

KnownConstants Logistic::known() const {
  const auto gram = [this](std::span<const double> v, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t row = 0; row < samples(); ++row) {
      const double label = data().labels[row];
      const double product =
          logistic::margin(this->row(Part::train, row), v) * label * weight(label);
      for (std::size_t k = data().row_start[row]; k < data().row_start[row + 1]; ++k)
        out[data().columns[k]] += product * data().values[k];
    }
  };
  return {
      .smoothness = largest_eigenvalue(dimension(), gram) / (4.0 * static_cast<double>(samples())),
      .least_loss = 0};
}

}  // namespace dasgd
