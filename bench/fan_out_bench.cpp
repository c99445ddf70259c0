// What sending costs the sender: 0.5 MB to 15 peers.
#include <benchmark/benchmark.h>
#include <vector>

#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/in_process/mesh.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

void fan_out(benchmark::State& state) {
  constexpr std::size_t dimension = 131'072;  // 0.5 MB of int32
  in_process::Mesh network(build_graph("full", 16, 1), {.relay = RelayMode::none, .in_flight = 64});
  Endpoint& sender = network.endpoint(WorkerId{0});
  Received inbox;
  std::uint32_t sequence = 0;
  std::vector<double> times;
  for (auto _ : state) {
    auto g = sender.blank();
    g->name = {WorkerId{0}, sequence++};
    g->update.resize<float>(dimension);
    const double time = seconds([&] { sender.send(std::move(g)); });
    state.SetIterationTime(time);
    times.push_back(time);
    for (std::size_t i = 1; i < 16; ++i) {
      inbox.clear();
      network.endpoint(worker_id(i)).receive(8, inbox);
    }
    inbox.clear();
  }
  state.counters["median_us"] = median(times) * 1e6;
}
BENCHMARK(fan_out)
    ->Name("send 0.5 MB to 15 peers")
    ->UseManualTime()
    ->Iterations(20'000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dasgd::bench
