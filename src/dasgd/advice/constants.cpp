#include "dasgd/advice/constants.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/data/draws/batches.hpp"
#include "dasgd/problems/error_window.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/run/point_sample.hpp"

namespace dasgd {
namespace {

constexpr int most_rounds = 40, fewest_rounds = 10;
constexpr std::size_t most_samples = 2560;  // of all rounds, where a gradient is that of many rows
constexpr double settled = 0.01;  // the change of a round after which no more is worth its time

/// Rows drawn without regard to workers; all of them, once, where so many are wanted.
std::vector<std::uint32_t> draw_rows(std::size_t samples, std::size_t count, Random& random) {
  std::vector<std::uint32_t> rows(std::min(samples, count));
  if (rows.size() == samples) {
    for (std::size_t r = 0; r < samples; ++r) rows[r] = static_cast<std::uint32_t>(r);
  } else {
    for (auto& row : rows) row = random.below(static_cast<std::uint32_t>(samples));
  }
  return rows;
}

struct Curvature {
  double value = 0;
  std::uint64_t gradients = 0;
};

// |H v| of power iteration on H v = (g(x + h v) - g(x - h v)) / 2 h.
template <typename Real>
Curvature largest_curvature(const Objective<Real>& objective, const std::vector<Real>& x,
                            const std::vector<std::uint32_t>& rows, Random& random,
                            const std::function<bool()>& is_over) {
  const std::size_t d = x.size();
  std::vector<Real> plus(d), minus(d), at(d);
  std::vector<double> v(d);
  for (double& c : v) c = random.normal();
  const double precision = std::numeric_limits<Real>::epsilon();
  const double h = std::cbrt(precision) * std::max(1.0, l2_norm<Real>(x));
  const int rounds =
      std::clamp(static_cast<int>(most_samples / std::max<std::size_t>(1, rows.size())),
                 fewest_rounds, most_rounds);
  Curvature found;
  for (int round = 0; round < rounds; ++round) {
    if (round > 0 && is_over && is_over()) break;
    const double length = l2_norm<double>(v);
    if (!(length > 0) || !std::isfinite(length)) break;
    for (double& c : v) c /= length;
    for (std::size_t i = 0; i < d; ++i) at[i] = static_cast<Real>(x[i] + h * v[i]);
    objective.gradient(at, rows, plus);
    for (std::size_t i = 0; i < d; ++i) at[i] = static_cast<Real>(x[i] - h * v[i]);
    objective.gradient(at, rows, minus);
    found.gradients += 2;
    for (std::size_t i = 0; i < d; ++i)
      v[i] = (static_cast<double>(plus[i]) - static_cast<double>(minus[i])) / (2 * h);
    const double before = found.value;
    found.value = l2_norm<double>(v);
    if (round > 4 && std::fabs(found.value - before) < settled * found.value) break;
  }
  return found;
}

Estimate variance_of(const std::vector<PointSample>& points, bool exact) {
  if (exact) return {0, 0, 0, "every gradient is the full one", points.size()};
  Estimate e{0, std::numeric_limits<double>::infinity(), 0, "", 0};
  for (const PointSample& p : points) {
    e.samples += p.drawn;
    e.value = std::max(e.value, p.variance);
    e.low = std::min(e.low, std::max(0.0, p.variance - 1.96 * p.variance_error));
    e.high = std::max(e.high, p.variance + 1.96 * p.variance_error);
  }
  e.how = fmt::format("largest variance over {} points, {} mini-batches", points.size(), e.samples);
  return e;
}

Estimate gradient_bound_of(const std::vector<PointSample>& points) {
  Estimate e{0, 0, 0, "", 0};
  for (const PointSample& p : points) {
    e.samples += p.drawn;
    e.low = std::max(e.low, p.mean_norm);
    e.high = std::max(e.high, p.largest_norm);
  }
  e.value = e.high;
  e.how = fmt::format("largest gradient norm at {} points of the trajectory", points.size());
  return e;
}

template <typename Real>
Estimate distance_of(const Objective<Real>& objective, const std::vector<PointSample>& points,
                     const ConstantsRequest& request) {
  const double start = points.front().loss;
  double best = start;
  for (const PointSample& p : points) best = std::min(best, p.loss);
  Estimate e{0, start - best, 0, "", points.size()};
  if (const auto least = request.least_loss ? request.least_loss : objective.known().least_loss) {
    if (request.least_loss && *least >= best)
      throw InputError(
          fmt::format("a least loss of {:.6g} is too large: the pilot has found a loss of {:.6g}",
                      *least, best));
    e.value = e.high = start - *least;
    e.how = fmt::format("f(x0) = {:.6g} minus {} {:.6g}", start,
                        request.least_loss ? "the given inf f" : "a lower bound of f", *least);
  } else if (e.low <= 0 && start > 0) {
    e.value = start;
    e.high = std::numeric_limits<double>::infinity();
    e.how =
        fmt::format("f(x0) = {:.6g}, assuming a least loss of 0: the pilot did not descend", start);
  } else {
    e.value = e.low;
    e.high = std::numeric_limits<double>::infinity();
    e.how = fmt::format("descent of the pilot from f(x0) = {:.6g}: too small", start);
  }
  return e;
}

}  // namespace

template <typename Real>
Smoothness measure_smoothness(const Objective<Real>& objective,
                              std::span<const std::vector<Real>> points, std::uint64_t seed,
                              const Smoothness* before, const Effort& effort) {
  if (const auto L = objective.known().smoothness)
    return {{*L, *L, *L * (1 + 1e-3), "closed form, its eigenvalue to 0.1 %", 1}, true};
  Smoothness e{{0, std::numeric_limits<double>::infinity(), 0, "", 0}};
  if (before) e = *before;
  Random random(seed, Purpose::pilot, 0);
  for (const auto& x : points) {
    const auto rows = draw_rows(objective.samples(), effort.most_rows, random);
    const Curvature found = largest_curvature<Real>(objective, x, rows, random, effort.is_over);
    e.low = std::min(e.low, found.value);
    e.high = std::max(e.high, found.value);
    e.samples += found.gradients;
  }
  e.value = e.high;
  e.how = fmt::format(
      "estimate: power iteration on {} gradients at {} points{}", e.samples,
      points.size() + (before ? 1 : 0),
      effort.most_rows < Effort{}.most_rows
          ? fmt::format(", of {} samples each, as gradients take long here", effort.most_rows)
          : "");
  return e;
}

template <typename Real>
ProblemConstants measure_constants(const Objective<Real>& objective,
                                   std::span<const std::vector<Real>> points,
                                   const ConstantsRequest& request) {
  ProblemConstants result;
  const Effort& effort = request.effort;
  result.L = request.L ? *request.L
                       : measure_smoothness<Real>(objective, points, request.seed, nullptr, effort);
  const bool exact = request.batch == 0 || objective.samples() <= 1;
  Random random(request.seed, Purpose::pilot, 1);
  // Independent draws: the variance of a smaller batch is larger by the ratio of their sizes.
  const std::size_t batch = std::min(request.batch, effort.most_rows);
  std::vector<PointSample> samples;
  for (const auto& x : points) {
    if (!samples.empty() && effort.is_over && effort.is_over()) break;
    samples.push_back(sample_point<Real>(objective, x, batch, random, effort.is_over));
    if (exact) continue;
    const double ratio = static_cast<double>(batch) / static_cast<double>(request.batch);
    samples.back().variance *= ratio;
    samples.back().variance_error *= ratio;
  }
  result.sigma2 = variance_of(samples, exact);
  result.Q = gradient_bound_of(samples);
  result.r0 = distance_of<Real>(objective, samples, request);
  return result;
}

template Smoothness measure_smoothness(const Objective<float>&, std::span<const std::vector<float>>,
                                       std::uint64_t, const Smoothness*, const Effort&);
template Smoothness measure_smoothness(const Objective<double>&,
                                       std::span<const std::vector<double>>, std::uint64_t,
                                       const Smoothness*, const Effort&);
template ProblemConstants measure_constants(const Objective<float>&,
                                            std::span<const std::vector<float>>,
                                            const ConstantsRequest&);
template ProblemConstants measure_constants(const Objective<double>&,
                                            std::span<const std::vector<double>>,
                                            const ConstantsRequest&);

}  // namespace dasgd
