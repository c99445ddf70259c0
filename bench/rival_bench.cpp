// How fast rivals go in virtual time: quadratic, d = 10, 100 workers, on one core.
#include <benchmark/benchmark.h>

#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

void messages(benchmark::State& state, const char* rival) {
  const auto problem = Quadratic::random(1);
  const ChosenRival chosen = choose_rival(rival, all_rivals());
  const TrainOptions options{.workers = 100, .eta = 1e-5, .total_gradients = 20'000};
  for (auto _ : state) {
    std::vector<double> rates;
    double time = 0;
    for (int round = 0; round < 5; ++round) {
      PlayResult result;
      time = seconds([&] { result = play<double>(problem, chosen, options, VirtualWorld{}); });
      rates.push_back(static_cast<double>(result.messages) / time);
    }
    state.SetIterationTime(time);
    state.counters["messages/s"] = median(rates);
  }
}

#define DASGD_RIVAL_BENCH(rival)                                     \
  BENCHMARK_CAPTURE(messages, rival, rival)                          \
      ->Name("simulated messages of " rival ", 100 workers, d = 10") \
      ->UseManualTime()                                              \
      ->Iterations(1)                                                \
      ->Unit(benchmark::kSecond)
DASGD_RIVAL_BENCH("asgd");
DASGD_RIVAL_BENCH("minibatch");
DASGD_RIVAL_BENCH("swift");
#undef DASGD_RIVAL_BENCH

}  // namespace
}  // namespace dasgd::bench
