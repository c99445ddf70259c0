// How fast virtual time goes: quadratic, d = 10, full graph, staleness on.
#include <benchmark/benchmark.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

// Seconds per delivery of a run with 10,000 gradients on `workers` workers.
double per_delivery(std::size_t workers) {
  const auto problem = Quadratic::random(1);
  const auto gradients = static_cast<std::uint32_t>(10'000 / workers);
  const double time = seconds(
      [&] { simulate(problem, {.workers = workers, .eta = 1e-5, .gradients = {gradients}}); });
  return time / (static_cast<double>(gradients) * static_cast<double>(workers * (workers - 1)));
}

void deliveries(benchmark::State& state) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<double> times;
    for (int round = 0; round < (workers < 1000 ? 5 : 1); ++round)
      times.push_back(per_delivery(workers));
    state.SetIterationTime(median(times));
    state.counters["deliveries/s"] = 1 / median(times);
    state.counters["cost_vs_10_workers"] = median(times) / per_delivery(10);
  }
}
BENCHMARK(deliveries)
    ->Name("simulated deliveries, full graph, workers")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kNanosecond);

void ten_thousand_workers(benchmark::State& state) {
  std::vector<std::uint32_t> gradients(10'000, 0);
  for (std::size_t i = 0; i < 100; ++i) gradients[i * 100] = 1;
  for (auto _ : state)
    state.SetIterationTime(seconds([&] {
      simulate(
          Quadratic::random(1),
          {.workers = 10'000, .topology = "random-regular:8", .eta = 1e-5, .gradients = gradients});
    }));
}
BENCHMARK(ten_thousand_workers)
    ->Name("10,000 workers, random-regular:8, 100 gradients")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace dasgd::bench
