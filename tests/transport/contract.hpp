// What every transport must keep, whatever carries its frames. A transport's test file instantiates
// this suite with a factory of worlds.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/random/random.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/relay.hpp"
#include "transport/participants.hpp"

namespace dasgd::test {

using WorldFactory =
    std::function<std::unique_ptr<World>(const Graph&, RelayMode, std::size_t in_flight)>;

struct ContractCase {
  std::string name;
  WorldFactory factory;
  std::string topology;
  std::size_t workers;
  RelayMode relay;
};

inline void PrintTo(const ContractCase& c, std::ostream* out) { *out << c.name; }

/// Every process of a world runs every test, each with the workers that it has; so a test may
/// expect things of its own workers only.
class TransportContract : public ::testing::TestWithParam<ContractCase> {
 protected:
  void make(std::size_t in_flight) {
    graph_ = std::make_unique<Graph>(build_graph(GetParam().topology, workers(), 1));
    world_ = GetParam().factory(*graph_, GetParam().relay, in_flight);
    for (std::size_t i = 0; world_ && i < workers(); ++i)
      if (world_->is_here(i)) here[i] = std::make_unique<Participant>(i, world_->endpoint(i));
  }
  /// One thread per worker that is here.
  template <typename Life>
  void in_threads(Life&& life) {
    std::vector<std::jthread> threads;
    for (const auto& [i, participant] : here)
      threads.emplace_back([&life, i = i, &p = *participant] { life(i, p); });
  }
  void live_all(const std::vector<std::uint32_t>& counts) {
    in_threads([&](std::size_t i, Participant& p) {
      p.live(counts[i % counts.size()], Random(7, Purpose::test, static_cast<std::uint32_t>(i)));
    });
  }
  /// What everybody has applied after `live_all(counts)`.
  GradientSet everything(const std::vector<std::uint32_t>& counts) const {
    GradientSet all;
    for (std::size_t i = 0; i < workers(); ++i)
      for (std::uint32_t k = 0; k < counts[i % counts.size()]; ++k) all.insert({worker_id(i), k});
    return all;
  }
  std::size_t workers() const { return GetParam().workers; }
  Endpoint& endpoint(std::size_t i) { return world_->endpoint(i); }
  bool links_order_everything() const { return GetParam().relay != RelayMode::none; }

  std::unique_ptr<Graph> graph_;
  std::unique_ptr<World> world_;
  std::map<std::size_t, std::unique_ptr<Participant>> here;
};

TEST_P(TransportContract, BringsEveryGradientToEveryWorkerExactlyOnce) {
  make(64);
  live_all({60, 100, 0, 20});
  for (const auto& [i, p] : here) {
    EXPECT_EQ(p->duplicates, 0u);
    EXPECT_TRUE(p->applied == everything({60, 100, 0, 20}));
  }
}

TEST_P(TransportContract, KeepsTheOrderOfEachOrigin) {
  make(4096);
  live_all({50});
  for (const auto& [i, p] : here) {
    std::map<WorkerId, std::uint32_t> next;
    for (const GradientName& name : p->order) EXPECT_EQ(name.sequence, next[name.origin]++);
  }
}

TEST_P(TransportContract, IsCausalWhereGradientsAreRelayed) {
  if (!links_order_everything()) return;  // direct broadcast promises order per origin only
  make(4096);                             // what is folded on its way may come early
  live_all({200});
  for (const auto& [i, p] : here) EXPECT_EQ(p->noncausal, 0u);
}

// Nobody applies anything before worker 0 has sent everything: it never waits for them, and what
// waits is folded. Its announcement says so, and overtakes what waits.
TEST_P(TransportContract, NobodyWaitsForThoseWhoAreBehind) {
  using namespace std::chrono_literals;
  make(3);
  constexpr std::uint32_t count = 500;
  in_threads([&](std::size_t i, Participant& p) {
    Endpoint& own = endpoint(i);
    if (i == 0) {
      for (std::uint32_t k = 0; k < count; ++k) p.send();
      own.announce(count);
      while (!own.announced_total())
        own.wait(100ms);  // until then others need it to pass things on
      return;
    }
    own.announce(0);
    while (!own.announced_total()) std::this_thread::sleep_for(1ms);  // what waits is left alone
    while (p.applied.size() < count)
      if (p.receive(8) == 0) own.wait(100ms);
    EXPECT_EQ(p.duplicates, 0u);
  });
  std::int64_t expected = 0;
  for (std::uint32_t k = 0; k < count; ++k) expected += Participant::number_of({worker_id(0), k});
  for (const auto& [i, p] : here) EXPECT_EQ(p->value, expected);
}

TEST_P(TransportContract, FoldsWithOneBufferAndStillBringsEverythingExactlyOnce) {
  make(1);
  live_all({100, 1, 300});
  for (const auto& [i, p] : here) {
    EXPECT_EQ(p->duplicates, 0u);
    EXPECT_TRUE(p->applied == everything({100, 1, 300}));
  }
}

TEST_P(TransportContract, NobodyKnowsTheTotalBeforeTheLastAnnouncement) {
  make(8);
  const std::size_t last = workers() - 1;
  in_threads([&](std::size_t i, Participant& p) {
    const auto until = [&](auto&& condition) {
      while (!condition())
        if (p.receive(8) == 0) endpoint(i).wait(std::chrono::milliseconds(100));
    };
    const std::uint32_t own = i < last ? 1 : 10;
    if (i == last) until([&] { return p.applied.size() == last; });
    for (std::uint32_t k = 0; k < own; ++k) p.send();
    EXPECT_EQ(endpoint(i).announced_total(), std::nullopt);
    endpoint(i).announce(own);
    until([&] { return endpoint(i).announced_total().has_value(); });
    EXPECT_EQ(endpoint(i).announced_total(), last + 10) << "not what some have announced";
  });
}

TEST_P(TransportContract, AWaitEndsOnWakeAndArrival) {
  using namespace std::chrono_literals;
  make(2);
  std::size_t neighbour = 1;
  while (!graph_->connected(worker_id(neighbour), worker_id(0))) ++neighbour;
  std::jthread sender;
  if (here.contains(neighbour)) sender = std::jthread([&] { here.at(neighbour)->send(); });
  if (!here.contains(0)) return;
  endpoint(0).wake();  // an hour is longer than any test may take
  endpoint(0).wait(1h);
  std::jthread waker([&] { endpoint(0).wake(); });
  endpoint(0).wait(1h);
  while (here.at(0)->receive(1) == 0) endpoint(0).wait(1h);
}

}  // namespace dasgd::test
