// What a worker costs on top of LibTorch.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <memory>
#include <torch/script.h>
#include <vector>

#include "cnn.hpp"
#include "dasgd/data/draws/batches.hpp"
#include "dasgd/runtime/train.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

constexpr double cnn_eta = 0.01;

/// The same network and plain SGD by nothing but LibTorch.
class BareLoop {
 public:
  BareLoop() {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{32, 3, 3, 3},
                                                   {32},
                                                   {64, 32, 3, 3},
                                                   {64},
                                                   {64, 64, 3, 3},
                                                   {64},
                                                   {64, 1024},
                                                   {64},
                                                   {10, 64},
                                                   {10}})
      parameters_.push_back((torch::rand(shape) * 0.1 - 0.05).set_requires_grad(true));
  }

  void run(std::uint32_t gradients) {
    Batches batches({.samples = cnn_images, .batch = cnn_batch}, WorkerId{0});
    for (std::uint32_t k = 0; k < gradients; ++k) step(batches.next().rows);
  }

 private:
  void step(std::span<const std::uint32_t> rows) {
    random_images()->gather(Part::train, rows, nullptr, numbers_);
    const auto n = static_cast<std::int64_t>(rows.size());
    auto x = torch::from_blob(numbers_.inputs.data(), {n, 3, 32, 32});
    const auto y = torch::from_blob(numbers_.labels.data(), {n}, torch::kLong);
    const auto& p = parameters_;
    x = at::max_pool2d(at::relu(at::conv2d(x, p[0], p[1])), {2, 2});
    x = at::max_pool2d(at::relu(at::conv2d(x, p[2], p[3])), {2, 2});
    x = at::relu(at::conv2d(x, p[4], p[5])).flatten(1);
    x = at::linear(at::relu(at::linear(x, p[6], p[7])), p[8], p[9]);
    const auto loss = at::cross_entropy_loss(x, y);
    loss.backward();
    const at::NoGradGuard no_grad;
    for (auto& parameter : parameters_) {
      parameter.sub_(parameter.grad(), cnn_eta);
      parameter.mutable_grad() = at::Tensor();
    }
    benchmark::DoNotOptimize(loss.item<float>());
  }

  std::vector<at::Tensor> parameters_;
  SampleBatch numbers_;
};

// Images per second of one bare loop while all run.
double bare_speed(std::vector<BareLoop>& loops) {
  constexpr std::uint32_t bare_gradients = 80;
  const auto times = at_once(loops.size(), [&](std::size_t i) { loops[i].run(bare_gradients); });
  return bare_gradients * static_cast<double>(cnn_batch) / median(times);
}

double trained_speed(std::size_t workers, double slow, double at_most_seconds,
                     const char* look_ahead = "auto") {
  TrainOptions options{.workers = workers, .eta = cnn_eta, .batch = cnn_batch};
  options.look_ahead = parse_look_ahead(look_ahead);
  options.max_time = std::chrono::nanoseconds(static_cast<std::int64_t>(at_most_seconds * 1e9));
  if (slow > 1) options.slow = {{worker_id(workers - 1), slow}};
  const auto summary = run_training<float>(cnn(), options).summary;
  const auto end = *std::max_element(summary.time.begin(), summary.time.end());
  return static_cast<double>(summary.samples) / (static_cast<double>(end) * 1e-9);
}

// `ideal`: how many bare loops the workers are together; as many as workers run at the same time.
void network_vs_bare(benchmark::State& state, std::size_t workers, double slow, double ideal) {
  cnn();  // chooses the fast way to compute, for both
  std::vector<BareLoop> bare(workers);
  for (auto _ : state) {
    std::vector<double> ratios, speeds;
    for (int round = 0; round < 3; ++round) {
      const double alone = bare_speed(bare);
      // Long enough for LibTorch's first, slow passes over a new network not to count.
      const double trained = trained_speed(workers, slow, 8);
      ratios.push_back(trained / (alone * ideal));
      speeds.push_back(trained);
    }
    state.SetIterationTime(1 / median(speeds));
    state.counters["images/s"] = median(speeds);
    state.counters["of_bare_loops"] = median(ratios);
  }
}
#define DASGD_NETWORK_BENCH(name, workers, slow, ideal)          \
  BENCHMARK_CAPTURE(network_vs_bare, name, workers, slow, ideal) \
      ->UseManualTime()                                          \
      ->Iterations(1)                                            \
      ->Unit(benchmark::kMicrosecond)
DASGD_NETWORK_BENCH(one_worker, 1, 1, 1.0);
DASGD_NETWORK_BENCH(two_workers, 2, 1, 2.0);
DASGD_NETWORK_BENCH(two_workers_one_10x_slower, 2, 10, 1.1);
#undef DASGD_NETWORK_BENCH

void look_ahead_cost(benchmark::State& state) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    std::vector<double> ratios, speeds;
    trained_speed(workers, 1, 1);
    for (int round = 0; round < 9; ++round) {
      const double off = trained_speed(workers, 1, 3, "off");
      speeds.push_back(trained_speed(workers, 1, 3, "auto"));
      ratios.push_back(speeds.back() / off);
    }
    state.SetIterationTime(1 / median(speeds));
    state.counters["images/s"] = median(speeds);
    state.counters["of_off"] = median(ratios);
  }
}
BENCHMARK(look_ahead_cost)
    ->Name("look-ahead, CNN, workers")
    ->Arg(1)
    ->Arg(2)
    ->Arg(16)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dasgd::bench
