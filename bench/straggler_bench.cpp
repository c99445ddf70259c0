// What a worker that is slow, or that hangs, costs the others.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <functional>
#include <numeric>
#include <vector>

#include "dasgd/runtime/train.hpp"
#include "fashion.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

using namespace std::chrono_literals;

// Gradients per second of the first seven workers. Every gradient takes 5 ms, so that eight workers
// do not fight for the cores of a small machine.
double rate_of_seven(std::size_t workers, const std::function<void(TrainOptions&)>& disturb) {
  TrainOptions options{.workers = workers, .eta = 0.01, .batch = 16, .max_time = 2s};
  options.compute = 5ms;
  options.in_flight = 16;
  disturb(options);
  const auto summary = run_training<float>(fashion(), options).summary;
  const auto& made = summary.gradients_by_worker;
  return std::accumulate(made.begin(), made.begin() + 7, 0.0) / 2;
}

// Interleaved: each turn has a run of seven workers without the eighth, and one with it.
void others_with_a_straggler(benchmark::State& state,
                             const std::function<void(TrainOptions&)>& disturb) {
  for (auto _ : state) {
    std::vector<double> ratios;
    const double time = seconds([&] {
      for (int turn = 0; turn < 3; ++turn)
        ratios.push_back(rate_of_seven(8, disturb) / rate_of_seven(7, [](TrainOptions&) {}));
    });
    state.SetIterationTime(time);
    state.counters["of_seven_alone"] = median(ratios);
  }
}
void slower(TrainOptions& options, double factor) { options.slow = {{WorkerId{7}, factor}}; }
BENCHMARK_CAPTURE(others_with_a_straggler, equal, [](TrainOptions&) {})
    ->Name("seven workers beside an eighth/equal")
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(others_with_a_straggler, slow10, [](TrainOptions& o) { slower(o, 10); })
    ->Name("seven workers beside an eighth/10 times slower")
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(others_with_a_straggler, slow1000, [](TrainOptions& o) { slower(o, 1000); })
    ->Name("seven workers beside an eighth/1000 times slower")
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(others_with_a_straggler, paused,
                  [](TrainOptions& o) {
                    o.chaos.pauses = {{WorkerId{7}, 100'000'000, 20'000'000'000}};
                  })
    ->Name("seven workers beside an eighth/paused")
    ->UseManualTime()
    ->Iterations(1);

double wall_of_epochs(double slow) {
  TrainOptions options{.workers = 2, .eta = 0.05, .batch = 64, .epochs = 3};
  options.slow = {{WorkerId{1}, slow}};
  return run_training<float>(fashion(), options).summary.wall_seconds;
}

// Three passes with one of two workers x times slower, in what n / (n - 1 + 1 / x) of the time of
// equal workers allows.
void epochs_with_a_slow_worker(benchmark::State& state) {
  const auto x = static_cast<double>(state.range(0));
  for (auto _ : state) {
    std::vector<double> ratios;
    for (int turn = 0; turn < 5; ++turn) {
      const double equal = wall_of_epochs(1), uneven = wall_of_epochs(x);
      ratios.push_back(uneven / (equal * 2 / (1 + 1 / x)));
      state.SetIterationTime(uneven);
    }
    state.counters["of_what_is_fair"] = median(ratios);
  }
}
BENCHMARK(epochs_with_a_slow_worker)
    ->Name("3 epochs, one of 2 workers slower")
    ->Arg(10)
    ->Arg(100)
    ->UseManualTime()
    ->Iterations(1);

}  // namespace
}  // namespace dasgd::bench
