#include "dasgd/run/point_sample.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/problems/error_window.hpp"

namespace dasgd {
namespace {

/// A batch of independent draws.
std::vector<std::uint32_t> draw_batch(std::size_t samples, std::size_t size, Random& random) {
  std::vector<std::uint32_t> rows(size);
  for (auto& row : rows) row = random.below(static_cast<std::uint32_t>(samples));
  return rows;
}

}  // namespace

template <typename Real>
PointSample sample_point(const Objective<Real>& objective, const std::vector<Real>& x,
                         std::size_t batch, Random& random, const std::function<bool()>& is_over) {
  const bool exact = batch == 0 || objective.samples() <= 1;
  const std::size_t most = exact ? 1 : PointSample::batches;
  const std::size_t d = x.size();
  std::vector<std::vector<Real>> gradients;
  std::vector<double> losses;
  while (gradients.size() < most) {
    if (gradients.size() >= PointSample::fewest_batches && is_over && is_over()) break;
    auto& g = gradients.emplace_back(d);
    losses.push_back(
        exact ? objective.full_gradient(x, g)
              : objective.gradient(x, draw_batch(objective.samples(), batch, random), g));
  }
  const std::size_t count = gradients.size();
  std::vector<double> mean(d, 0.0);
  PointSample result{.drawn = count};
  for (const double loss : losses) result.loss += loss / static_cast<double>(count);
  for (const auto& g : gradients) {
    result.largest_norm = std::max(result.largest_norm, l2_norm<Real>(g));
    for (std::size_t i = 0; i < d; ++i) mean[i] += static_cast<double>(g[i]) / double(count);
  }
  result.mean_norm = l2_norm<double>(mean);
  if (exact) return result;
  std::vector<double> deviations;
  for (const auto& g : gradients) {
    double squares = 0;
    for (std::size_t i = 0; i < d; ++i) {
      const double off = static_cast<double>(g[i]) - mean[i];
      squares += off * off;
    }
    // The mean is of the same gradients: count / (count - 1) makes up for it.
    deviations.push_back(squares * double(count) / double(count - 1));
  }
  for (const double v : deviations) result.variance += v / double(count);
  double spread = 0;
  for (const double v : deviations) spread += (v - result.variance) * (v - result.variance);
  result.variance_error = std::sqrt(spread / double(count - 1) / double(count));
  return result;
}

template PointSample sample_point(const Objective<float>&, const std::vector<float>&, std::size_t,
                                  Random&, const std::function<bool()>&);
template PointSample sample_point(const Objective<double>&, const std::vector<double>&, std::size_t,
                                  Random&, const std::function<bool()>&);

}  // namespace dasgd
