// What it costs to apply waiting gradients exactly.
#include <benchmark/benchmark.h>
#include <cstring>
#include <vector>

#include "dasgd/core/replica.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

constexpr std::size_t waiting = 8;

std::vector<GradientPtr> make_gradients(std::size_t dimension) {
  std::vector<GradientPtr> gradients;
  std::vector<float> values(dimension);
  HostReplica<float> origin(std::vector<float>(dimension, 0.0f));
  for (std::size_t k = 0; k < waiting; ++k) {
    for (std::size_t i = 0; i < dimension; ++i)
      values[i] = static_cast<float>((i * 2654435761u + k * 40503u) % 20011) * 1e-4f - 1.0f;
    auto g = std::make_shared<Gradient>();
    origin.apply_own(1e-3, values, g->update);
    gradients.push_back(g);
  }
  return gradients;
}

// Bytes that a fused pass moves: eight updates in, sums in and out.
double bytes_moved(std::size_t dimension) {
  return static_cast<double>(dimension) *
         (waiting * sizeof(std::int32_t) + 2 * sizeof(std::int64_t));
}

void fused_apply_vs_copy(benchmark::State& state) {
  constexpr std::size_t dimension = 25'000'000;
  const auto gradients = make_gradients(dimension);
  HostReplica<float> replica(std::vector<float>(dimension, 0.0f));
  std::vector<std::byte> from(std::size_t{300} << 20, std::byte{1}), to(from.size());
  for (auto _ : state) {
    const auto [apply, copy] = in_turns(
        9, [&] { replica.apply(gradients); },
        [&] {
          std::memcpy(to.data(), from.data(), from.size());
          benchmark::DoNotOptimize(to.data());
        });
    const double apply_bandwidth = bytes_moved(dimension) / apply;
    const double copy_bandwidth = 2.0 * static_cast<double>(from.size()) / copy;
    state.SetIterationTime(apply);
    state.counters["GB/s"] = apply_bandwidth / 1e9;
    state.counters["of_copy_bandwidth"] = apply_bandwidth / copy_bandwidth;
  }
}
BENCHMARK(fused_apply_vs_copy)
    ->Name("fused exact apply, 8 waiting, d = 25M")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// The plain loop reads all eight gradients in one pass too: x -= eta * (g1 + ... + g8), term by
// term.
void plain_apply(std::vector<float>& x, const std::vector<std::vector<float>>& g, float eta) {
  float* __restrict__ out = x.data();
  const float *a = g[0].data(), *b = g[1].data(), *c = g[2].data(), *d = g[3].data(),
              *e = g[4].data(), *f = g[5].data(), *h = g[6].data(), *j = g[7].data();
  for (std::size_t i = 0; i < x.size(); ++i) {
    float v = out[i];
    v -= eta * a[i];
    v -= eta * b[i];
    v -= eta * c[i];
    v -= eta * d[i];
    v -= eta * e[i];
    v -= eta * f[i];
    v -= eta * h[i];
    v -= eta * j[i];
    out[i] = v;
  }
}

void fused_apply_vs_float(benchmark::State& state) {
  constexpr std::size_t dimension = 122'570;
  const auto gradients = make_gradients(dimension);
  HostReplica<float> replica(std::vector<float>(dimension, 0.0f));
  std::vector<std::vector<float>> plain(waiting, std::vector<float>(dimension, 0.5f));
  std::vector<float> x(dimension, 0.0f);
  for (auto _ : state) {
    const auto [exact, floats] = in_turns(
        301, [&] { replica.apply(gradients); },
        [&] {
          plain_apply(x, plain, 1e-3f);
          benchmark::DoNotOptimize(x.data());
        });
    state.SetIterationTime(exact);
    state.counters["of_plain_float_loop"] = exact / floats;
  }
}
BENCHMARK(fused_apply_vs_float)
    ->Name("fused exact apply, 8 waiting, d = 122,570")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dasgd::bench
