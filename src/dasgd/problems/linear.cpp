#include "dasgd/problems/linear.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "dasgd/data/judge_numbers.hpp"
#include "dasgd/problems/largest_eigenvalue.hpp"

namespace dasgd {
namespace {

using Index = Eigen::Index;

// Of which all products are kept; and numbers in all that many passes may be made over.
constexpr std::size_t most_columns = 1024, most_numbers = std::size_t{1} << 28;

double output(std::span<const double> x, const std::vector<float>& row) {
  double sum = x.back();
  for (std::size_t k = 0; k < row.size(); ++k) sum += x[k] * static_cast<double>(row[k]);
  return sum;
}

double loss_of(double difference, bool huber) {
  if (!huber) return difference * difference;
  const double size = std::fabs(difference);
  return size <= 1 ? size * size / 2 : size - 0.5;
}

double slope_of(double difference, bool huber) {
  return huber ? std::clamp(difference, -1.0, 1.0) : 2 * difference;
}

}  // namespace

Linear::Linear(std::shared_ptr<const PreparedSamples> samples, bool huber)
    : samples_(std::move(samples)), width_(samples_->preprocessing()->width()), huber_(huber) {}

template <typename Visit>
void Linear::look_at(Part part, std::size_t place, std::vector<float>& row, Visit&& visit) const {
  row.resize(width_);
  samples_->copy(part, place, row);
  const auto& scale = samples_->preprocessing()->target;
  const double target = samples_->target(part, place);
  visit(std::as_const(row), scale ? scale->standardised(target) : target);
}

double Linear::gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  samples_->fetch(Part::train, rows);
  const double share = 1 / static_cast<double>(rows.size());
  std::vector<float> numbers;
  double loss = 0;
  for (const std::uint32_t place : rows)
    look_at(Part::train, place, numbers, [&](const std::vector<float>& row, double target) {
      const double difference = output(x, row) - target;
      const double slope = slope_of(difference, huber_) * share;
      loss += loss_of(difference, huber_) * share;
      for (std::size_t k = 0; k < width_; ++k) gradient[k] += slope * static_cast<double>(row[k]);
      gradient[width_] += slope;
    });
  return loss;
}

PartFigures Linear::figures(Part part, std::span<const double> x) const {
  PartFigures found{.part = std::string(to_string(part)),
                    .from = samples_->origin(part),
                    .samples = samples_->count(part)};
  std::vector<float> numbers;
  double squares = 0;
  Moments targets;
  for (std::size_t place = 0; place < found.samples; ++place)
    look_at(part, place, numbers, [&](const std::vector<float>& row, double target) {
      const double difference = output(x, row) - target;
      found.loss += loss_of(difference, huber_);
      squares += difference * difference;
      targets.add(target);
    });
  const auto count = static_cast<double>(std::max<std::size_t>(1, found.samples));
  found.loss /= count;
  judge_numbers(found, squares / count, targets, samples_->preprocessing()->target);
  return found;
}

std::vector<PartFigures> Linear::examine(std::span<const double> x) const {
  std::vector<PartFigures> found;
  for (const Part part : all_parts)
    if (samples_->count(part) > 0 && (part != Part::train || judged() == part))
      found.push_back(figures(part, x));
  return found;
}

std::optional<std::vector<double>> Linear::least_squares() const {
  if (width_ > most_columns || samples() > most_numbers / (width_ + 1)) return std::nullopt;
  const auto size = static_cast<Index>(width_ + 1);
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd answers = Eigen::VectorXd::Zero(size), z = Eigen::VectorXd::Ones(size);
  std::vector<float> numbers;
  for (std::size_t place = 0; place < samples(); ++place)
    look_at(Part::train, place, numbers, [&](const std::vector<float>& row, double target) {
      for (std::size_t k = 0; k < width_; ++k)
        z[static_cast<Index>(k)] = static_cast<double>(row[k]);
      products.selfadjointView<Eigen::Lower>().rankUpdate(z);
      answers += target * z;
    });
  products.triangularView<Eigen::StrictlyUpper>() = products.transpose();
  // Categories of one column sum to the column of ones: the least norm of many solutions.
  const Eigen::VectorXd best = products.completeOrthogonalDecomposition().solve(answers);
  return std::vector<double>(best.data(), best.data() + size);
}

KnownConstants Linear::known() const {
  if (samples() > most_numbers / (width_ + 1)) return {.least_loss = 0};
  const auto gram = [this](std::span<const double> v, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    std::vector<float> numbers;
    for (std::size_t place = 0; place < samples(); ++place)
      look_at(Part::train, place, numbers, [&](const std::vector<float>& row, double) {
        const double product = output(v, row);
        for (std::size_t k = 0; k < width_; ++k) out[k] += product * static_cast<double>(row[k]);
        out[width_] += product;
      });
  };
  const double eigenvalue =
      largest_eigenvalue(dimension(), gram, 1e-6) / static_cast<double>(samples());
  KnownConstants found{.smoothness = huber_ ? eigenvalue : 2 * eigenvalue, .least_loss = 0};
  if (const auto best = huber_ ? std::nullopt : least_squares()) found.least_loss = loss(*best);
  return found;
}

}  // namespace dasgd
