#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <gtest/gtest.h>
#include <mutex>
#include <new>

#include "dasgd/core/error.hpp"
#include "dasgd/transport/faulty/faulty_links.hpp"
#include "dasgd/transport/in_process/mesh.hpp"
#include "support/effort.hpp"
#include "transport/contract.hpp"

namespace dasgd::test {
namespace {

/// Workers of one process on links that misbehave.
class FaultyWorld final : public World {
 public:
  FaultyWorld(const Graph& graph, RelayMode relay, std::size_t in_flight, const Chaos& chaos,
              std::uint64_t seed = 1)
      : network_(graph, {.relay = relay,
                         .in_flight = in_flight,
                         .clock = clock_,
                         .carrier = [&, clock = clock_](Arrival arrival) {
                           return std::make_unique<faulty::FaultyLinks>(
                               chaos, graph, seed, clock, std::move(arrival),
                               [](std::exception_ptr) { FAIL(); });
                         }}) {}
  Endpoint& endpoint(std::size_t worker) override { return network_.endpoint(worker_id(worker)); }
  void deliver_held_back() { network_.deliver_held_back(); }

 private:
  const std::function<Nanoseconds()> clock_ = [start = std::chrono::steady_clock::now()] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  };
  in_process::Mesh network_;
};

/// Everything but reordering: links stay FIFO, so the whole contract holds.
Chaos in_order() {
  Chaos chaos;
  chaos.delay = chaos.duplicate = chaos.drop = 0.2;
  chaos.delay_up_to = 500'000;
  chaos.resend_after = 200'000;
  chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 0, 3'000'000}};
  return chaos;
}

std::vector<ContractCase> cases() {
  const WorldFactory factory = [](const Graph& graph, RelayMode relay, std::size_t in_flight) {
    return std::make_unique<FaultyWorld>(graph, relay, in_flight, in_order());
  };
  return {{"ring_arrival", factory, "ring", 5, RelayMode::arrival},
          {"ring_apply", factory, "ring", 5, RelayMode::apply},
          {"directed_ring_apply", factory, "directed-ring", 4, RelayMode::apply},
          {"star_arrival", factory, "star", 5, RelayMode::arrival},
          {"full_none", factory, "full", 4, RelayMode::none}};
}

INSTANTIATE_TEST_SUITE_P(Faulty, TransportContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

// As where memory has run out. The next frame arrives all the same.
TEST(FaultyLinks, AnArrivalThatThrowsIsReportedAndEndsNothing) {
  const Graph graph = build_graph("full", 2, 1);
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  std::exception_ptr failure;
  faulty::FaultyLinks links(
      in_order(), graph, 1, [] { return Nanoseconds{0}; },
      [&](WorkerId, WorkerId, const Frame&) {
        const std::lock_guard lock(mutex);
        changed.notify_one();
        if (arrived++ == 0) throw std::bad_alloc();
      },
      [&](std::exception_ptr what) {
        const std::lock_guard lock(mutex);
        failure = what;
      });
  links.deliver_held_back();
  for (int k = 0; k < 2; ++k) links.carry(worker_id(0), worker_id(1), {});
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::minutes(1), [&] { return arrived == 2; }));
  lock.unlock();
  links.stop();
  ASSERT_NE(failure, nullptr);
  EXPECT_THROW(std::rethrow_exception(failure), std::bad_alloc);
}

/// Runs every worker's life; all that they applied must be the same, once each.
void expect_exactly_once(const Graph& graph, RelayMode relay, const Chaos& chaos,
                         std::uint64_t seed) {
  FaultyWorld world(graph, relay, 16, chaos, seed);
  std::vector<std::unique_ptr<Participant>> workers;
  for (std::size_t i = 0; i < graph.workers(); ++i)
    workers.push_back(std::make_unique<Participant>(i, world.endpoint(i)));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i)
      threads.emplace_back([&, i] {
        workers[i]->live(static_cast<std::uint32_t>(20 + i),
                         Random(seed, Purpose::test, static_cast<std::uint32_t>(i)));
      });
  }
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->duplicates, 0u);
    EXPECT_TRUE(worker->applied == workers[0]->applied);
  }
}

TEST(Faulty, ReorderedFramesStillArriveExactlyOnce) {
  Chaos chaos = in_order();
  chaos.reorder = 0.5;
  for (std::uint64_t seed = 1; seed <= 8; seed += sampled_one_in)
    for (const RelayMode relay : {RelayMode::arrival, RelayMode::apply})
      expect_exactly_once(build_graph(seed % 2 ? "ring" : "full", 5, 1), relay, chaos, seed);
  expect_exactly_once(build_graph("full", 5, 1), RelayMode::none, chaos, 3);
}

TEST(Faulty, FramesOvertakeEachOther) {
  Chaos chaos;
  chaos.reorder = 0.5;
  FaultyWorld world(build_graph("full", 2, 1), RelayMode::none, 64, chaos);
  Participant sender(0, world.endpoint(0)), receiver(1, world.endpoint(1));
  for (int i = 0; i < 50; ++i) sender.send();
  while (receiver.applied.size() < 50)
    if (receiver.receive(8) == 0) world.endpoint(1).wait(std::chrono::milliseconds(100));
  EXPECT_FALSE(std::is_sorted(receiver.order.begin(), receiver.order.end()));
}

TEST(Faulty, APartitionHoldsFramesUntilItHeals) {
  Chaos chaos;
  chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 0, 30'000'000}};
  FaultyWorld world(build_graph("full", 3, 1), RelayMode::none, 8, chaos);
  Participant sender(0, world.endpoint(0)), cut_off(1, world.endpoint(1)),
      reached(2, world.endpoint(2));
  sender.send();
  while (reached.receive(1) == 0) world.endpoint(2).wait(std::chrono::milliseconds(100));
  while (cut_off.receive(1) == 0) world.endpoint(1).wait(std::chrono::milliseconds(100));
  EXPECT_GE(world.endpoint(1).now(), 30'000'000);
}

// Otherwise this would take an hour.
TEST(Faulty, WhatIsLetGoArrivesAtOnceAndInOrder) {
  Chaos chaos;
  chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 0, 3'600'000'000'000}};
  FaultyWorld world(build_graph("full", 2, 1), RelayMode::none, 64, chaos);
  Participant sender(0, world.endpoint(0)), receiver(1, world.endpoint(1));
  for (int i = 0; i < 10; ++i) sender.send();
  EXPECT_EQ(receiver.receive(8), 0u);
  world.deliver_held_back();
  world.deliver_held_back();
  for (int i = 0; i < 10; ++i) sender.send();
  while (receiver.applied.size() < 20)
    if (receiver.receive(8) == 0) world.endpoint(1).wait(std::chrono::milliseconds(100));
  EXPECT_TRUE(std::is_sorted(receiver.order.begin(), receiver.order.end()));
}

// Whatever is sent then wakes the thread that carries frames, each time.
TEST(Faulty, WhatIsSentOnceAllWasLetGoArrivesToo) {
  FaultyWorld world(build_graph("full", 2, 1), RelayMode::none, 64, Chaos());
  Participant sender(0, world.endpoint(0)), receiver(1, world.endpoint(1));
  world.deliver_held_back();
  for (std::size_t sent = 1; sent <= 50; ++sent) {
    sender.send();
    for (int waits = 0; receiver.applied.size() < sent; ++waits) {
      ASSERT_LT(waits, 600);
      if (receiver.receive(8) == 0) world.endpoint(1).wait(std::chrono::milliseconds(100));
    }
  }
}

// Ten million draws per frame, were every loss one.
TEST(Faulty, FramesThatAreNearlyAlwaysLostTakeTheirTimeAndNoOther) {
  Chaos chaos;
  chaos.drop = 1 - 1e-7;
  chaos.resend_after = 1000;
  chaos.partitions = {{{WorkerId{0}}, {WorkerId{1}}, 5'000'000, 1'000'000'000'000}};
  DisturbedLink cut(WorkerId{0}, WorkerId{1}, 0), whole(WorkerId{0}, WorkerId{2}, 0);
  double mean = 0;
  constexpr int frames = 20'000;
  for (int k = 0; k < frames; ++k) {
    Random random = whole.next_frame(1), same = cut.next_frame(1);
    const Nanoseconds leaves = whole.leaves(chaos, random, 0);
    mean += static_cast<double>(leaves) / frames;
    // The partition adds its length where a frame would still be lost when it begins.
    EXPECT_EQ(cut.leaves(chaos, same, 0), leaves < 5'000'000 ? leaves : leaves + 1'000'000'000'000);
  }
  EXPECT_NEAR(mean, 1e10, 4e8);  // of 1 / (1 - drop) losses; drawn from the seed
}

TEST(Faulty, CopiesAreDropped) {
  Chaos chaos;
  chaos.duplicate = 0.9;
  FaultyWorld world(build_graph("full", 2, 1), RelayMode::none, 64, chaos);
  Participant sender(0, world.endpoint(0)), receiver(1, world.endpoint(1));
  for (int i = 0; i < 40; ++i) sender.send();
  while (world.endpoint(1).copies_dropped() < 20) receiver.receive(8);
  while (receiver.applied.size() < 40) receiver.receive(8);
  EXPECT_EQ(receiver.duplicates, 0u);
}

TEST(Faulty, MayEndWithFramesOnTheirWay) {
  Chaos chaos;
  chaos.delay = 0.99;
  chaos.delay_up_to = 3'600'000'000'000;
  FaultyWorld world(build_graph("ring", 4, 1), RelayMode::arrival, 8, chaos);
  Participant sender(0, world.endpoint(0));
  for (int i = 0; i < 8; ++i) sender.send();
}

}  // namespace
}  // namespace dasgd::test
