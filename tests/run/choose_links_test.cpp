#include "dasgd/run/choose_links.hpp"

#include <gtest/gtest.h>

#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

TrainOptions open_run(std::size_t workers) {
  TrainOptions options{.workers = workers};
  options.relay = RelayChoice::automatic();
  options.message = MessageFormat::automatic;
  return options;
}

/// Where the card takes this many gradients for one full message.
NetworkLimits thin(double gradients) {
  NetworkLimits network{.kind = "a test", .dimension = 256'000};
  network.gradient_seconds = 0.1;
  network.card = 4 * 256'000 / (0.1 * gradients);
  return network;
}

TEST(ChooseLinks, WhereNothingIsLimitedIsAMeshWithFullMessages) {
  const TrainOptions chosen = choose_links(open_run(64), {.kind = "threads share memory"});
  EXPECT_EQ(chosen.relay, RelayChoice::mesh());
  EXPECT_EQ(chosen.message, MessageFormat::full);
  EXPECT_EQ(chosen.links_why, "threads share memory");
}

TEST(ChooseLinks, TakesATreeWhereACardCannotCarryAMeshOfMoreThanEight) {
  EXPECT_EQ(choose_links(open_run(8), thin(1)).relay, RelayChoice::mesh());
  EXPECT_EQ(choose_links(open_run(9), thin(1)).relay, RelayChoice::tree());
  EXPECT_EQ(choose_links(open_run(9), thin(0.1)).relay, RelayChoice::mesh());
  EXPECT_EQ(choose_links(open_run(16), thin(0.1)).relay, RelayChoice::tree());
}

TEST(ChooseLinks, TakesTheMostBitsThatWaitForTwoGradientsAtMost) {
  const auto message = [](double gradients) {
    return choose_links(open_run(16), thin(gradients)).message;
  };
  EXPECT_EQ(message(0.01), MessageFormat::full);
  EXPECT_EQ(message(0.3), MessageFormat::full);  // a tree: five messages
  EXPECT_EQ(message(1), MessageFormat::int8);
  EXPECT_EQ(message(3), MessageFormat::int4);
  EXPECT_EQ(message(5), MessageFormat::ternary);
  EXPECT_EQ(message(1000), MessageFormat::ternary);
}

TEST(ChooseLinks, LeavesWhatWasGiven) {
  TrainOptions given{.workers = 32};
  given.relay = RelayChoice::tree(2);
  given.message = MessageFormat::int4;
  const TrainOptions chosen = choose_links(given, thin(100));
  EXPECT_EQ(chosen.relay, RelayChoice::tree(2));
  EXPECT_EQ(chosen.message, MessageFormat::int4);
  EXPECT_EQ(chosen.links_why, "");
}

TEST(RelayChoice, IsReadAndWritten) {
  for (const char* text : {"arrival", "apply", "none", "mesh", "tree:4", "tree:2", "auto"})
    EXPECT_EQ(to_string(parse_relay(text)), text);
  EXPECT_EQ(parse_relay("tree"), RelayChoice::tree(4));
  for (const char* text : {"", "trees", "tree:", "tree:0", "tree:x", "tree:-1", "tree:2x", "Mesh"})
    EXPECT_THROW(parse_relay(text), InputError) << text;
}

TEST(RelayChoice, OfLinksMakesTheGraph) {
  TrainOptions options{.workers = 7};
  options.relay = RelayChoice::tree(2);
  EXPECT_TRUE(graph_of(options).is_tree());
  EXPECT_EQ(relay_of(options, graph_of(options)), RelayMode::arrival);
  options.relay = RelayChoice::mesh();
  EXPECT_TRUE(graph_of(options).is_full());
  EXPECT_EQ(relay_of(options, graph_of(options)), RelayMode::none);
  options.topology = "ring";
  EXPECT_THROW(graph_of(options), InputError);
}

}  // namespace
}  // namespace dasgd
