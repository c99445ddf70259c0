// A model of your own in twenty lines: the Rosenbrock valley, walked down by four workers at once.
#include <cstdio>

#include <dasgd/dasgd.hpp>

struct Rosenbrock final : dasgd::Objective<double> {
  std::size_t dimension() const override { return 2; }
  std::vector<double> start() const override { return {-0.5, 0.5}; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    g[0] = -2 * a - 40 * x[0] * b;
    g[1] = 20 * b;
    return a * a + 10 * b * b;
  }
};

int main() {
  const auto result = dasgd::train(
      Rosenbrock(),
      {.workers = 4, .topology = "ring", .eta = 5e-4, .gradients = {40'000}, .in_flight = 2});
  std::printf("minimum near (%.2f, %.2f), loss below 1e-3: %s\n", result.model[0], result.model[1],
              result.summary.loss < 1e-3 ? "yes" : "no");
  std::printf("%llu gradients, %llu lost, replicas identical: %s\n",
              static_cast<unsigned long long>(result.summary.gradients),
              static_cast<unsigned long long>(result.summary.lost),
              result.summary.replicas_identical ? "yes" : "no");
}
