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
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd::test {

/// All endpoints of one network.
class World {
 public:
  virtual ~World() = default;
  virtual Endpoint& endpoint(std::size_t worker) = 0;
};

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

/// A worker without a model: it applies what it receives and sends numbered gradients.
class Participant {
 public:
  Participant(std::size_t self, Endpoint& endpoint) : self_(self), endpoint_(endpoint) {}

  /// Receives and "applies" up to `limit` gradients; how many there were.
  std::size_t receive(std::size_t limit) {
    std::vector<GradientPtr> batch;
    endpoint_.receive(limit, batch);
    for (const GradientPtr& g : batch) {
      order.push_back(g->name);
      pointers[g->name] = g.get();
      if (g->compute_set.count_missing_from(applied) > 0) ++noncausal;
      if (!applied.insert(g->name)) ++duplicates;
    }
    endpoint_.applied(batch);
    return batch.size();
  }

  /// Sends one gradient; false when there is no room.
  bool send() {
    auto g = endpoint_.blank();
    if (!g) return false;
    g->name = {worker_id(self_), applied.prefix(worker_id(self_))};
    g->origin_step = applied.size();
    g->compute_set = applied;
    pointers[g->name] = g.get();
    applied.insert(g->name);
    endpoint_.send(std::move(g));
    return true;
  }

  /// The life of a worker's thread: `count` gradients, announcement, drain.
  void live(std::uint32_t count, Random random) {
    for (std::uint32_t made = 0; made < count;) {
      if (receive(1 + random.below(8)) > 0) continue;
      if (send()) {
        ++made;
      } else {
        endpoint_.wait(std::chrono::milliseconds(100));
      }
    }
    endpoint_.announce(count);
    while (endpoint_.announced_total() != applied.size())
      if (receive(8) == 0) endpoint_.wait(std::chrono::milliseconds(100));
  }

  GradientSet applied;
  std::vector<GradientName> order;
  std::map<GradientName, const Gradient*> pointers;
  std::size_t duplicates = 0, noncausal = 0;

 private:
  const std::size_t self_;
  Endpoint& endpoint_;
};

class TransportContract : public ::testing::TestWithParam<ContractCase> {
 protected:
  void make(std::size_t in_flight) {
    graph_ = std::make_unique<Graph>(build_graph(GetParam().topology, GetParam().workers, 1));
    world_ = GetParam().factory(*graph_, GetParam().relay, in_flight);
    for (std::size_t i = 0; i < GetParam().workers; ++i)
      participants.push_back(std::make_unique<Participant>(i, world_->endpoint(i)));
  }
  void live_all(const std::vector<std::uint32_t>& counts) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < participants.size(); ++i)
      threads.emplace_back([&, i] {
        participants[i]->live(counts[i % counts.size()],
                              Random(7, Purpose::test, static_cast<std::uint32_t>(i)));
      });
  }
  Endpoint& endpoint(std::size_t i) { return world_->endpoint(i); }
  bool links_order_everything() const { return GetParam().relay != RelayMode::none; }

  std::unique_ptr<Graph> graph_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Participant>> participants;
};

TEST_P(TransportContract, BringsEveryGradientToEveryWorkerExactlyOnce) {
  make(64);
  live_all({60, 100, 0, 20});
  for (const auto& p : participants) {
    EXPECT_EQ(p->duplicates, 0u);
    EXPECT_TRUE(p->applied == participants[0]->applied);
  }
}

TEST_P(TransportContract, KeepsTheOrderOfEachOrigin) {
  make(64);
  live_all({50});
  for (const auto& p : participants) {
    std::map<WorkerId, std::uint32_t> next;
    for (const GradientName& name : p->order) EXPECT_EQ(name.sequence, next[name.origin]++);
  }
}

TEST_P(TransportContract, IsCausalWhereGradientsAreRelayed) {
  if (!links_order_everything()) return;  // direct broadcast promises order per origin only
  make(64);
  live_all({200});
  for (const auto& p : participants) EXPECT_EQ(p->noncausal, 0u);
}

TEST_P(TransportContract, CannotDeadlockWithTheSmallestBuffers) {
  make(2);
  live_all({100, 1, 300});
  for (const auto& p : participants) EXPECT_TRUE(p->applied == participants[0]->applied);
}

TEST_P(TransportContract, BoundsWhatIsOnItsWay) {
  make(5);
  Participant& sender = *participants[0];
  int sent = 0;
  while (sent < 100 && sender.send()) ++sent;
  EXPECT_EQ(sent, 5);
  for (std::size_t i = 1; i < participants.size(); ++i) EXPECT_LE(endpoint(i).inbox_depth(), 5u);
  // Everybody applies, in rounds that let relayed copies travel: there is room again.
  for (std::size_t round = 0; round < participants.size(); ++round)
    for (const auto& p : participants) p->receive(8);
  EXPECT_TRUE(sender.send());
}

TEST_P(TransportContract, NobodyKnowsTheTotalBeforeTheLastAnnouncement) {
  make(8);
  for (std::size_t i = 0; i + 1 < participants.size(); ++i) endpoint(i).announce(3);
  for (std::size_t i = 0; i < participants.size(); ++i)
    EXPECT_EQ(endpoint(i).announced_total(), std::nullopt);
  endpoint(participants.size() - 1).announce(10);
  for (std::size_t i = 0; i < participants.size(); ++i)
    EXPECT_EQ(endpoint(i).announced_total(), 3 * (participants.size() - 1) + 10);
}

TEST_P(TransportContract, AWaitEndsOnWakeArrivalAndRoom) {
  using namespace std::chrono_literals;
  make(2);
  const auto soon = [](auto&& wait) {
    const auto start = std::chrono::steady_clock::now();
    wait();
    return std::chrono::steady_clock::now() - start < 30s;
  };
  endpoint(0).wake();
  EXPECT_TRUE(soon([&] { endpoint(0).wait(60s); }));
  std::jthread waker([&] { endpoint(0).wake(); });
  EXPECT_TRUE(soon([&] { endpoint(0).wait(60s); }));
  waker.join();
  std::size_t neighbour = 1;
  while (!graph_->connected(worker_id(neighbour), worker_id(0))) ++neighbour;
  std::jthread sender([&] { participants[neighbour]->send(); });
  EXPECT_TRUE(soon([&] {
    while (participants[0]->receive(1) == 0) endpoint(0).wait(60s);
  }));
}

}  // namespace dasgd::test
