// What it costs workers that somebody wants to see their models.
#include <algorithm>
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/good_model.hpp"
#include "dasgd/runtime/train.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

using namespace std::chrono_literals;

/// f(x) = |x - 1|^2 / 2 of 25 million numbers: a gradient is one pass over memory.
class WideBowl final : public Objective<float> {
 public:
  std::size_t dimension() const override { return 25'000'000; }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - 1;
    return 0.5 * static_cast<double>(g[0]) * static_cast<double>(g[0]);
  }
};

double gradients_per_second(const std::vector<Callback<float>>& callbacks) {
  const TrainOptions options{
      .workers = 1, .eta = 0.01, .max_time = 3s, .in_flight = 2, .report_every = 50ms};
  const auto summary = run_training<float>(WideBowl(), options, callbacks).summary;
  return static_cast<double>(summary.gradients) / (static_cast<double>(summary.time[0]) * 1e-9);
}

// Twenty reports a second: without callbacks, with one that only counts, with one that looks at x.
void watched_training(benchmark::State& state) {
  const std::vector<Callback<float>> counts{[](const auto&) { return Flow::go_on; }};
  const std::vector<Callback<float>> looks{[](const Progress<float>& p) {
    benchmark::DoNotOptimize(p.model().data());
    return Flow::go_on;
  }};
  for (auto _ : state) {
    std::vector<double> counting, looking;
    for (int turn = 0; turn < 3; ++turn) {
      const double alone = gradients_per_second({});
      counting.push_back(gradients_per_second(counts) / alone);
      looking.push_back(gradients_per_second(looks) / alone);
      state.SetIterationTime(1 / alone);
    }
    state.counters["with_a_callback"] = median(counting);
    state.counters["that_looks_at_x"] = median(looking);
  }
}
BENCHMARK(watched_training)
    ->Name("callbacks 20 times a second, d = 25M, of a run without")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Seconds of one offer while `threads` offer ever better models of a million numbers.
double seconds_of_an_offer(std::size_t threads) {
  constexpr int offers = 200;
  GoodModel<float> good;
  std::atomic<double> loss = 1e9;
  std::vector<double> times(threads);
  {
    std::vector<std::jthread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        const std::vector<float> x(1'000'000, 1.0f);
        times[t] = seconds([&] {
          for (int k = 0; k < offers; ++k) good.offer(loss.fetch_sub(1), x);
        });
      });
  }
  return *std::max_element(times.begin(), times.end()) / offers;
}

// As many threads as cores: up to 1 if nobody waits for the copy of another, n if all do.
void offers_at_once(benchmark::State& state) {
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 8);
  for (auto _ : state) {
    std::vector<double> ratios;
    for (int turn = 0; turn < 9; ++turn) {
      const double alone = seconds_of_an_offer(1), together = seconds_of_an_offer(threads);
      ratios.push_back(together / alone);
      state.SetIterationTime(alone);
    }
    state.counters["threads"] = static_cast<double>(threads);
    state.counters["time_of_one_alone"] = median(ratios);
  }
}
BENCHMARK(offers_at_once)
    ->Name("good models of 4 MB offered at once, of one alone")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dasgd::bench
