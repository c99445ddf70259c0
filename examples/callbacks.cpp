// Callbacks: a metric of your own, and an early stop when it is good enough.
#include <cmath>
#include <cstdio>

#include <dasgd/dasgd.hpp>

int main() {
  using namespace std::chrono_literals;
  const auto problem = dasgd::Quadratic::random(1);
  const auto optimum = problem.optimum();
  const auto distance = [&](std::span<const double> x) {
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(x[i] - optimum[i], 2);
    return std::sqrt(squares);
  };
  const dasgd::Callback<double> close_enough = [&](const dasgd::Progress<double>& progress) {
    const auto x = progress.model();
    const bool close = !x.empty() && distance(x) < 1e-6;
    return close ? dasgd::Flow::stop : dasgd::Flow::go_on;
  };
  const auto result = dasgd::train(
      problem, {.workers = 2, .eta = 0.005, .max_time = 60s, .in_flight = 4, .report_every = 5ms},
      {close_enough});
  std::printf("stopped by %s, %s the optimum\n", to_string(result.summary.stop_reason).c_str(),
              distance(result.model) < 1e-5 ? "at" : "far from");
}
