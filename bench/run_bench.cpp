// What the runtime, the ledger and the trace cost in a real run: softmax on Fashion-MNIST.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "dasgd/data/draws/batches.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/staleness/ledger.hpp"
#include "fashion.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

constexpr std::size_t batch = 256;
constexpr std::uint32_t gradients = 1000;
constexpr double eta = 0.1;

// The same kernel, batches and number of gradients without any of dasgd: as many loops as workers,
// at the same time, that know nothing of each other.
double bare_loops(std::size_t loops, std::uint32_t count, std::size_t size) {
  const auto times = at_once(loops, [&](std::size_t loop) {
    Batches batches({.samples = fashion().samples(), .batch = size}, worker_id(loop));
    std::vector<float> x = fashion().start(), g(x.size());
    for (std::uint32_t k = 0; k < count; ++k) {
      fashion().gradient(x, batches.next().rows, g);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= static_cast<float>(eta) * g[i];
    }
  });
  return *std::max_element(times.begin(), times.end());
}

double trained_seconds(const TrainOptions& options) {
  const auto summary = run_training<float>(fashion(), options).summary;
  return static_cast<double>(*std::max_element(summary.time.begin(), summary.time.end())) * 1e-9;
}

// Workers with a core each against as many bare loops at the same time: the argument is the batch
// size.
void workers_vs_bare_loop(benchmark::State& state, std::size_t workers) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const TrainOptions options{
      .workers = workers, .eta = eta, .batch = size, .gradients = {gradients}};
  for (auto _ : state) {
    std::vector<double> ratios;
    for (int round = 0; round < 7; ++round) {
      const double run = trained_seconds(options);
      ratios.push_back(bare_loops(workers, gradients, size) / run);
      state.SetIterationTime(run);
    }
    state.counters["of_bare_loops"] = median(ratios);
  }
}
BENCHMARK_CAPTURE(workers_vs_bare_loop, one, 1)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(workers_vs_bare_loop, two, 2)
    ->Arg(64)
    ->Arg(256)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(workers_vs_bare_loop, all_cores, std::thread::hardware_concurrency())
    ->Arg(256)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// The ledger's share: the time it takes to record the applications of a run, over the time of the
// run.
void ledger_share(benchmark::State& state) {
  const TrainOptions options{.workers = 2, .eta = eta, .batch = batch, .gradients = {gradients}};
  for (auto _ : state) {
    const double run = trained_seconds(options);
    std::vector<Gradient> history;
    GradientSet known(2);
    for (std::uint32_t k = 0; k < gradients; ++k) {
      for (const std::size_t origin : {0, 1}) {  // each origin is one gradient behind the other
        Gradient g;
        g.name = {worker_id(origin), k};
        g.compute_set = known;
        g.origin_step = known.size();
        history.push_back(std::move(g));
      }
      known.insert({WorkerId{0}, k});
      known.insert({WorkerId{1}, k});
    }
    std::vector<double> times;
    for (int round = 0; round < 7; ++round) {
      Ledger ledger(2);
      times.push_back(seconds([&] {
        for (const Gradient& g : history) benchmark::DoNotOptimize(ledger.record(g));
      }));
    }
    state.SetIterationTime(median(times));
    state.counters["share_of_run"] = median(times) / run;
    state.counters["ns_per_application"] =
        median(times) / static_cast<double>(history.size()) * 1e9;
  }
}
BENCHMARK(ledger_share)
    ->Name("ledger, softmax, 2 workers")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void trace_cost(benchmark::State& state) {
  const auto path = (std::filesystem::temp_directory_path() / "dasgd-bench-trace.jsonl").string();
  const auto without =
      TrainOptions{.workers = 2, .eta = eta, .batch = batch, .gradients = {gradients}};
  for (auto _ : state) {
    std::vector<double> ratios;
    for (int round = 0; round < 9; ++round) {
      TraceWriter writer(path, 2);
      TrainOptions with = without;
      with.trace = &writer;
      const double plain = trained_seconds(without);
      const double traced = trained_seconds(with);
      writer.finish();
      ratios.push_back(traced / plain);
      state.SetIterationTime(traced);
    }
    state.counters["share_of_run"] = median(ratios) - 1;
  }
  std::filesystem::remove(path);
}
BENCHMARK(trace_cost)
    ->Name("trace, softmax, 2 workers")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dasgd::bench
