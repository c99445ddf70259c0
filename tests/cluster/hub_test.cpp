#include "dasgd/transport/mpi/hub.hpp"

#include <gtest/gtest.h>
#include <thread>

#include "dasgd/topology/builders.hpp"

namespace dasgd::mpi {
namespace {

GradientPtr gradient(std::size_t origin, std::uint32_t sequence) {
  auto g = std::make_shared<Gradient>();
  g->name = {worker_id(origin), sequence};
  g->update.resize<float>(10);
  return g;
}

/// What a worker takes from its inbox.
struct Taken {
  explicit Taken(Inbox<int>& inbox) {
    Received received;
    inbox.take(100, received, from);
    for (const GradientPtr& g : received.gradients) names.push_back(g->name);
    if (received.bundle) bundled = received.bundle->size();
  }
  std::vector<GradientName> names;
  std::vector<int> from;
  std::size_t bundled = 0;
};

/// Rank 1 of a ring of three ranks with two workers each.
class HubTest : public ::testing::TestWithParam<RelayMode> {
 protected:
  HubTest() { hub.connect({&inboxes[0], &inboxes[1]}); }

  std::vector<Outgoing> outbox() {
    std::vector<Outgoing> taken;
    hub.take_outbox(taken);
    return taken;
  }
  std::size_t leaves() { return outbox().size(); }

  const Graph ranks = build_graph("ring", 3, 1);
  Hub hub{1, RankLayout{3, 2}, ranks, GetParam()};
  std::array<Inbox<int>, 2> inboxes;
};
INSTANTIATE_TEST_SUITE_P(Relay, HubTest, ::testing::Values(RelayMode::arrival, RelayMode::apply),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST_P(HubTest, AnOwnGradientGoesToTheOtherWorkersHereAndLeavesOnce) {
  EXPECT_EQ(hub.send(gradient(2, 0)), 1u);
  EXPECT_TRUE(Taken(inboxes[0]).names.empty()) << "worker 2 is the first here, and the origin";
  EXPECT_EQ(Taken(inboxes[1]).names, (std::vector<GradientName>{{worker_id(2), 0}}));
  const auto out = outbox();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<Relayed>(out[0]).from_rank, 1);
  EXPECT_FALSE(hub.is_first_copy(GradientName{worker_id(2), 0})) << "it may come round";
  EXPECT_EQ(hub.copies_dropped(worker_id(2)), 1u);
  EXPECT_EQ(hub.copies_dropped(worker_id(3)), 0u) << "reported as the first worker's";
}

TEST_P(HubTest, AForeignGradientGoesToAllWorkersHereAndIsPassedOnOnce) {
  const auto g = gradient(0, 0);
  ASSERT_TRUE(hub.is_first_copy(g->name));
  EXPECT_FALSE(hub.is_first_copy(g->name));
  hub.arrived(Parcel(g), 0);
  EXPECT_EQ(Taken(inboxes[0]).from, std::vector{0});
  EXPECT_EQ(Taken(inboxes[1]).from, std::vector{0});
  const bool at_once = GetParam() == RelayMode::arrival;
  EXPECT_EQ(leaves(), at_once ? 1u : 0u);
  const std::vector<GradientPtr> both{g};
  const std::vector<int> from{0};
  hub.applied(both, from);
  EXPECT_EQ(leaves(), at_once ? 0u : 1u);
  hub.applied(both, from);
  EXPECT_EQ(leaves(), 0u) << "the second worker here applies it too";
}

TEST_P(HubTest, ABundleIsPassedOnAtOnce) {
  auto bundle = std::make_shared<Bundle>();
  const std::vector<GradientPtr> two{gradient(0, 0), gradient(0, 1)};
  bundle->add(two);
  GradientSet names;
  for (const auto& g : two) names.insert(g->name);
  ASSERT_TRUE(hub.is_first_copy(names));
  EXPECT_FALSE(hub.is_first_copy(two[1]->name));
  hub.arrived(Parcel(BundlePtr(bundle)), 0);
  EXPECT_EQ(Taken(inboxes[0]).bundled, 2u);
  EXPECT_EQ(leaves(), 1u);
}

TEST_P(HubTest, AllAnnouncementsMakeTheTotal) {
  for (std::size_t worker = 0; worker < 6; ++worker) {
    EXPECT_EQ(hub.announced_total(), std::nullopt);
    const Announcement announcement{worker_id(worker), 10};
    if (worker / 2 == 1) {
      hub.announce(announcement);
    } else {
      hub.arrived(announcement, 0);
      hub.arrived(announcement, 2);  // the other way round the ring
    }
    inboxes[0].wait(std::chrono::hours(1));  // each wakes the workers
  }
  EXPECT_EQ(hub.announced_total(), 60u);
  EXPECT_EQ(leaves(), 6u) << "each once";
}

TEST_P(HubTest, WhatLeavesKeepsTheOrderInWhichItWasPosted) {
  hub.send(gradient(2, 0));
  hub.send_note(2, Bytes(3));
  hub.announce({worker_id(2), 1});
  const auto out = outbox();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Parcel>(std::get<Relayed>(out[0]).frame));
  EXPECT_EQ(std::get<Direct>(out[1]).to_rank, 2);
  EXPECT_TRUE(std::holds_alternative<Announcement>(std::get<Relayed>(out[2]).frame));
}

TEST_P(HubTest, TheProgressThreadIsWokenByWhatIsPostedAndByTheEnd) {
  constexpr std::chrono::microseconds long_enough = std::chrono::hours(1);
  std::jthread progress([&] {
    std::vector<Outgoing> taken, later;
    bool closed = false;
    while (taken.empty()) {
      hub.wait(long_enough);
      closed = hub.take_outbox(taken);
    }
    while (!closed) {
      hub.wait(long_enough);
      closed = hub.take_outbox(later);
    }
  });
  hub.send(gradient(3, 0));
  hub.close();
  progress.join();
}

TEST_P(HubTest, WhatWasPostedBeforeIsNotWaitedForAndIsTakenOnce) {
  constexpr std::chrono::microseconds long_enough = std::chrono::hours(1);
  hub.send(gradient(3, 0));
  hub.wait(long_enough);
  std::vector<Outgoing> taken;
  for (const std::size_t expected : {1u, 0u, 0u}) {
    hub.take_outbox(taken);
    EXPECT_EQ(taken.size(), expected);
  }
  hub.close();
  hub.wait(long_enough);
}

TEST_P(HubTest, TrafficOfRelayedGradientsIsTheFirstWorkers) {
  hub.count({worker_id(3), 0}, 100);
  hub.count({worker_id(5), 0}, 40);
  EXPECT_EQ(hub.sent(worker_id(3)).bytes, 100u);
  EXPECT_EQ(hub.sent(worker_id(2)).bytes, 40u);
  EXPECT_EQ(hub.sent(worker_id(2)).messages, 1u);
}

TEST_P(HubTest, FoldsWhereverSomethingWaits) {
  const auto arrive = [&](std::uint32_t sequence) {
    const auto g = gradient(0, sequence);
    ASSERT_TRUE(hub.is_first_copy(g->name));
    hub.arrived(Parcel(g), 0);
  };
  for (std::uint32_t k = 0; k < 4; ++k) arrive(k);
  outbox();
  hub.fold(worker_id(4));  // nothing of that one waits
  hub.fold(worker_id(0));
  EXPECT_EQ(leaves(), GetParam() == RelayMode::apply ? 2u : 0u) << "what is folded is passed on";
  auto bundle = std::make_shared<Bundle>();
  const std::vector<GradientPtr> two{gradient(0, 4), gradient(0, 5)};
  bundle->add(two);
  hub.arrived(Parcel(BundlePtr(bundle)), 0);
  hub.fold_bundles();
  for (Inbox<int>& inbox : inboxes) {
    EXPECT_EQ(Taken(inbox).names.size(), 2u);
    EXPECT_EQ(Taken(inbox).bundled, 4u);
  }
}

}  // namespace
}  // namespace dasgd::mpi
