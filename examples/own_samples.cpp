// A model and samples of your own: a line through 500 points in memory, fitted in mini-batches.
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

#include <dasgd/dasgd.hpp>

struct Line final : dasgd::Objective<double> {
  struct Point {
    double u, v;
  };
  std::vector<Point> points;
  explicit Line(std::vector<Point> data) : points(std::move(data)) {}

  std::size_t dimension() const override { return 2; }  // v = x[0] u + x[1]
  std::size_t samples() const override { return points.size(); }

  // `rows` are numbers of samples, from 0 to samples() - 1. Several threads call this at once.
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    g[0] = g[1] = 0;
    double loss = 0;
    const double share = 1.0 / static_cast<double>(rows.size());
    for (const std::uint32_t row : rows) {
      const auto [u, v] = points[row];
      const double residual = x[0] * u + x[1] - v;
      g[0] += share * residual * u;
      g[1] += share * residual;
      loss += share * residual * residual / 2;
    }
    return loss;
  }
};

int main() {
  using namespace std::chrono_literals;
  std::vector<Line::Point> points;
  std::mt19937 random(1);
  for (int k = 0; k < 500; ++k) {
    const double u = static_cast<double>(random()) / 4294967296.0;
    points.push_back({u, 3 * u - 1});
  }
  // Gradients of a microsecond would be thousands of gradients stale where threads share a core, so
  // each one takes half a millisecond, as those of real models do.
  const auto result = dasgd::train(
      Line(points), {.workers = 4, .eta = 0.1, .batch = 20, .epochs = 100, .compute = 500us});
  std::printf("v = %.2f u %+.2f\n", result.model[0], result.model[1]);
  std::printf("%llu gradients, replicas identical: %s\n",
              static_cast<unsigned long long>(result.summary.gradients),
              result.summary.replicas_identical ? "yes" : "no");
}
