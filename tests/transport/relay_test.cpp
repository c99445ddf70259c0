#include "dasgd/transport/relay.hpp"

#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

Frame frame(std::size_t origin, std::uint32_t sequence) {
  auto g = std::make_shared<Gradient>();
  g->name = {worker_id(origin), sequence};
  return GradientPtr(g);
}

std::vector<std::size_t> targets(const Relay& relay, std::size_t from) {
  std::vector<std::size_t> result;
  relay.for_each_target(worker_id(from), [&](WorkerId w) { result.push_back(index(w)); });
  return result;
}

TEST(Relay, RecognizesCopiesByNameInAnyOrder) {
  const Graph graph = build_graph("ring", 4, 1);
  Relay relay(WorkerId{0}, graph, RelayMode::arrival);
  EXPECT_TRUE(relay.is_first_copy(frame(1, 3)));
  EXPECT_TRUE(relay.is_first_copy(frame(1, 0)));
  EXPECT_FALSE(relay.is_first_copy(frame(1, 3)));
  EXPECT_EQ(relay.copies_dropped(), 1u);
}

TEST(Relay, SendsToAllButTheOneItCameFrom) {
  const Graph graph = build_graph("full", 4, 1);
  const Relay relay(WorkerId{2}, graph, RelayMode::arrival);
  EXPECT_EQ(targets(relay, 0), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(targets(relay, 2), (std::vector<std::size_t>{0, 1, 3}));
}

TEST(Relay, PassesOnWhenItsModeSaysSo) {
  const Graph graph = build_graph("ring", 4, 1);
  const Frame news = Announcement{WorkerId{1}, 3};
  EXPECT_TRUE(Relay(WorkerId{0}, graph, RelayMode::arrival).passes_on_arrival(frame(1, 0)));
  EXPECT_FALSE(Relay(WorkerId{0}, graph, RelayMode::apply).passes_on_arrival(frame(1, 0)));
  EXPECT_TRUE(Relay(WorkerId{0}, graph, RelayMode::apply).passes_on_arrival(news));
  EXPECT_FALSE(Relay(WorkerId{0}, graph, RelayMode::none).passes_on_arrival(news));
}

TEST(Relay, PassesABundleOnAtOnceWithRelayOnApplicationToo) {
  const Graph graph = build_graph("ring", 4, 1);
  const Frame bundle = BundlePtr(std::make_shared<Bundle>());
  EXPECT_TRUE(Relay(WorkerId{0}, graph, RelayMode::apply).passes_on_arrival(bundle));
  EXPECT_FALSE(Relay(WorkerId{0}, graph, RelayMode::none).passes_on_arrival(bundle));
}

TEST(Relay, ModesHaveNames) {
  for (const char* name : {"arrival", "apply", "none"})
    EXPECT_EQ(to_string(parse_relay(name)), name);
  EXPECT_THROW(parse_relay("arival"), InputError);
}

TEST(Relay, DefaultsToNoneOnlyOnTheFullGraph) {
  EXPECT_EQ(default_relay(build_graph("full", 4, 1)), RelayMode::none);
  EXPECT_EQ(default_relay(build_graph("ring", 4, 1)), RelayMode::arrival);
  EXPECT_EQ(default_relay(build_graph("ring", 3, 1)), RelayMode::none);
}

TEST(Relay, ChoicesOfLinksHaveNames) {
  for (const char* name : {"mesh", "tree:1", "tree:12", "auto"}) {
    EXPECT_EQ(to_string(parse_relay(name)), name);
    EXPECT_TRUE(parse_relay(name).chooses_links());
  }
  EXPECT_EQ(to_string(parse_relay("tree")), "tree:4");
  EXPECT_FALSE(parse_relay("apply").chooses_links());
  for (const char* name : {"tree:0", "tree:", "tree:3x", "tree:-1", "tree:99999999999", "trees"})
    EXPECT_THROW(parse_relay(name), InputError) << name;
}

TEST(Relay, OnlyTheFullGraphDoesWithoutIt) {
  EXPECT_NO_THROW(require_delivery(build_graph("full", 4, 1), RelayMode::none));
  for (const RelayMode mode : {RelayMode::arrival, RelayMode::apply})
    EXPECT_NO_THROW(require_delivery(build_graph("ring", 4, 1), mode));
  try {
    require_delivery(build_graph("ring", 4, 1), RelayMode::none);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("worker 2 would not receive the gradients of worker 0"),
              std::string::npos)
        << e.what();
  }
}

TEST(Relay, KnowsTheTotalWhenAllHaveAnnouncedTheirs) {
  const Graph graph = build_graph("ring", 3, 1);
  Relay relay(WorkerId{0}, graph, RelayMode::arrival);
  const auto hears = [&](std::size_t origin, std::uint32_t computed) {
    return relay.is_first_copy(Frame(Announcement{worker_id(origin), computed}));
  };
  EXPECT_TRUE(hears(1, 5));
  EXPECT_FALSE(hears(1, 5));
  EXPECT_TRUE(hears(0, 0));
  EXPECT_EQ(relay.announced_total(), std::nullopt);
  EXPECT_TRUE(hears(2, 7));
  EXPECT_EQ(relay.announced_total(), 12u);
  EXPECT_EQ(relay.copies_dropped(), 1u);
}

TEST(Relay, ABundleIsNewIfAllOfItIs) {
  const Graph graph = build_graph("ring", 3, 1);
  Relay relay(WorkerId{0}, graph, RelayMode::arrival);
  GradientSet first, second;
  first.insert_range({WorkerId{1}, 0, 2});
  second.insert_range({WorkerId{1}, 1, 4});
  EXPECT_TRUE(relay.is_first_copy(first));
  EXPECT_FALSE(relay.is_first_copy(second));
  EXPECT_EQ(relay.copies_dropped(), 1u);
  EXPECT_TRUE(relay.is_first_copy(GradientName{WorkerId{1}, 2}));  // not taken for seen
  EXPECT_FALSE(relay.is_first_copy(GradientName{WorkerId{1}, 1}));
}

}  // namespace
}  // namespace dasgd
