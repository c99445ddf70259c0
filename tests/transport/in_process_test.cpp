#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "contract.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/transport/in_process/mesh.hpp"

namespace dasgd::test {
namespace {

class InProcessWorld final : public World {
 public:
  InProcessWorld(const Graph& graph, RelayMode relay, std::size_t in_flight)
      : network_(graph, {.relay = relay, .in_flight = in_flight}) {}
  Endpoint& endpoint(std::size_t worker) override { return network_.endpoint(worker_id(worker)); }
  std::size_t most_buffers(std::size_t worker) const {
    return network_.most_buffers(worker_id(worker));
  }

 private:
  in_process::Mesh network_;
};

std::unique_ptr<World> in_process(const Graph& graph, RelayMode relay, std::size_t in_flight) {
  return std::make_unique<InProcessWorld>(graph, relay, in_flight);
}

std::vector<ContractCase> cases() {
  std::vector<ContractCase> result;
  const auto add = [&](const std::string& topology, std::size_t workers, RelayMode relay) {
    std::string name = topology + "_" + std::to_string(workers) + "_" + to_string(relay);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
    result.push_back({name, in_process, topology, workers, relay});
  };
  for (const RelayMode relay : {RelayMode::arrival, RelayMode::apply}) {
    add("ring", 2, relay);
    add("ring", 7, relay);
    add("directed-ring", 6, relay);
    add("star", 6, relay);
    add("torus:2x4", 8, relay);
    add("mesh:2x4", 8, relay);
    add("exponential", 9, relay);
    add("random-regular:3", 8, relay);
    add("full", 5, relay);
  }
  add("full", 6, RelayMode::none);
  return result;
}

INSTANTIATE_TEST_SUITE_P(InProcess, TransportContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(InProcess, SharesTheNumbersInsteadOfCopyingThem) {
  InProcessWorld world(build_graph("ring", 6, 1), RelayMode::arrival, 8);
  std::vector<std::unique_ptr<Participant>> workers;
  for (std::size_t i = 0; i < 6; ++i)
    workers.push_back(std::make_unique<Participant>(i, world.endpoint(i)));
  workers[0]->send();
  const GradientName name{WorkerId{0}, 0};
  for (std::size_t i = 1; i < 6; ++i) {
    workers[i]->receive(8);
    EXPECT_EQ(workers[i]->pointers.at(name), workers[0]->pointers.at(name));
  }
}

TEST(InProcess, RecyclesBuffers) {
  InProcessWorld world(build_graph("full", 2, 1), RelayMode::none, 4);
  Participant a(0, world.endpoint(0)), b(1, world.endpoint(1));
  std::set<const Gradient*> used;
  for (int i = 0; i < 1000; ++i) {
    a.send();
    b.receive(8);
  }
  for (const auto& [name, pointer] : b.pointers) used.insert(pointer);
  EXPECT_LE(used.size(), 4u);
}

// What the documentation promises: a few bundles and `in_flight` buffers, however far behind.
TEST(InProcess, MemoryIsBoundedHoweverFarAWorkerIsBehind) {
  InProcessWorld world(build_graph("full", 3, 1), RelayMode::none, 4);
  Participant fast(0, world.endpoint(0)), other(1, world.endpoint(1)), behind(2, world.endpoint(2));
  for (int i = 0; i < 10'000; ++i) {
    fast.send();
    other.receive(8);
  }
  EXPECT_LE(world.most_buffers(0), 4u);
  EXPECT_EQ(world.endpoint(2).inbox_depth(), 10'000u);
  std::size_t steps = 0;
  for (; behind.applied.size() < 10'000; ++steps) behind.receive(8);
  EXPECT_LE(steps, 20u) << "one for each bundle, and some for what is not folded";
  EXPECT_EQ(behind.value, fast.value);
  EXPECT_TRUE(std::is_sorted(behind.order.begin(), behind.order.end()));
}

TEST(InProcess, WhatIsFoldedIsPassedOnAtOnce) {
  InProcessWorld world(build_graph("directed-ring", 3, 1), RelayMode::apply, 2);
  Participant origin(0, world.endpoint(0)), behind(1, world.endpoint(1)),
      after(2, world.endpoint(2));
  for (int i = 0; i < 10; ++i) origin.send();
  EXPECT_GT(after.receive(20), 0u) << "although worker 1 has applied nothing";
  while (behind.receive(20) > 0) continue;
  while (after.receive(20) > 0) continue;
  EXPECT_EQ(after.value, origin.value);
  EXPECT_EQ(behind.value, origin.value);
}

TEST(InProcess, FloodingCostsTwiceTheLinksMinusTheTree) {
  for (const char* topology : {"ring", "torus:3x4", "random-regular:3", "star", "full"}) {
    const Graph graph = build_graph(topology, 12, 1);
    InProcessWorld world(graph, RelayMode::arrival, 8);
    Participant(3, world.endpoint(3)).send();
    std::uint64_t dropped = 0;
    for (std::size_t i = 0; i < 12; ++i) dropped += world.endpoint(i).copies_dropped();
    // Every worker but the origin accepts one transmission; the rest are copies.
    EXPECT_EQ(dropped + 11, graph.links() - 12 + 1) << topology;
  }
}

TEST(InProcess, CountsTheGradientsThatItSendsAndPassesOn) {
  InProcessWorld world(build_graph("star", 4, 1), RelayMode::arrival, 8);
  Participant leaf(1, world.endpoint(1));
  leaf.send();
  leaf.send();
  world.endpoint(1).announce(2);  // not a gradient
  const std::uint64_t bytes = sizeof(Number<float>);
  EXPECT_EQ(world.endpoint(1).sent().messages, 2u);
  EXPECT_EQ(world.endpoint(1).sent().bytes, 2 * bytes);
  EXPECT_EQ(world.endpoint(0).sent().messages, 4u);  // the middle
  EXPECT_EQ(world.endpoint(0).sent().bytes, 4 * bytes);
  EXPECT_EQ(world.endpoint(2).sent().messages, 0u);
}

TEST(InProcess, RefusesToLeaveAnybodyOut) {
  EXPECT_THROW(InProcessWorld(build_graph("ring", 5, 1), RelayMode::none, 8), InputError);
}

TEST(InProcess, MayEndWithGradientsOnTheirWay) {
  std::shared_ptr<Gradient> kept;
  {
    InProcessWorld world(build_graph("full", 3, 1), RelayMode::none, 8);
    Participant(0, world.endpoint(0)).send();
    Participant(1, world.endpoint(1)).send();
    kept = world.endpoint(2).blank();
  }
  EXPECT_NE(kept, nullptr);
}

RC_GTEST_PROP(InProcess, DeliversExactlyOnceOnRandomGraphs, ()) {
  const auto n = static_cast<std::size_t>(*rc::gen::inRange(2, 9));
  const auto relay = *rc::gen::element(RelayMode::arrival, RelayMode::apply);
  Graph graph(n);
  for (std::size_t i = 0; i < n; ++i)  // a directed cycle keeps it strongly connected
    graph.connect(worker_id(i), worker_id((i + 1) % n));
  for (const int extra : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 81))) {
    const auto a = static_cast<std::size_t>(extra) / 9 % n,
               b = static_cast<std::size_t>(extra) % 9 % n;
    if (a != b) graph.connect(worker_id(a), worker_id(b));
  }
  const auto in_flight = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  InProcessWorld world(graph, relay, in_flight);
  std::vector<std::unique_ptr<Participant>> workers;
  for (std::size_t i = 0; i < n; ++i)
    workers.push_back(std::make_unique<Participant>(i, world.endpoint(i)));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        workers[i]->live(static_cast<std::uint32_t>(10 + i),
                         Random(1, Purpose::test, static_cast<std::uint32_t>(i)));
      });
  }
  for (const auto& worker : workers) {
    RC_ASSERT(worker->duplicates == 0u);
    if (relay == RelayMode::arrival) RC_ASSERT(worker->noncausal == 0u);
    RC_ASSERT(worker->applied == workers[0]->applied);
    RC_ASSERT(worker->value == workers[0]->value);
  }
}

}  // namespace
}  // namespace dasgd::test
