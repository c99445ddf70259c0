// Relays with slow network cards, and who takes their places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dasgd/elastic/card_watch.hpp"
#include "dasgd/elastic/tree.hpp"
#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic::test {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

TEST(Card, IsFullWhereSomethingMostlyWaitsForAllLinks) {
  CardWatch watch(4 * second);
  std::uint64_t handed = 0;
  const auto goes_on = [&](std::size_t waiting, int seconds) {
    for (; seconds > 0; --seconds) {
      watch.look(3, waiting);
      watch.measure(handed += 1000, 0, 1);
    }
  };
  goes_on(2, 20);
  EXPECT_FALSE(watch.card().is_full);
  EXPECT_NEAR(watch.card().rate, 1000, 10);
  EXPECT_EQ(watch.card().limit, 0);
  goes_on(3, 2);  // for a moment
  EXPECT_FALSE(watch.card().is_full);
  goes_on(3, 20);
  EXPECT_TRUE(watch.card().is_full);
  EXPECT_EQ(watch.card().limit, watch.card().rate);
}

TEST(Card, CarriesWhatHasLeft) {
  CardWatch watch(second);
  watch.measure(5000, 4000, 1);
  EXPECT_EQ(watch.card().rate, 1000);
  watch.measure(5000, 2000, 1);
  EXPECT_EQ(watch.card().rate, 2000);
  watch.measure(5000, 3000, 1);  // another link has taken what a broken one had
  EXPECT_EQ(watch.card().rate, 0);
}

// With one link it waits for the card at the other end.
TEST(Card, HasALimitOnceItWasFullAsARelay) {
  CardWatch watch(second);
  watch.look(1, 1);
  watch.measure(1000, 0, 1);
  EXPECT_TRUE(watch.card().is_full);
  EXPECT_EQ(watch.card().limit, 0);
  watch.look(2, 2);
  watch.measure(2000, 0, 1);
  EXPECT_EQ(watch.card().limit, 1000);
  watch.look(1, 0);
  watch.measure(2100, 0, 1);
  EXPECT_EQ(watch.card().limit, 1000);
  watch.measure(5100, 0, 1);  // it does more
  EXPECT_EQ(watch.card().limit, 3000);
}

/// Seven members in a tree of two children, drawn by this one, which is the oldest.
struct Places : ::testing::Test {
  Places() {
    for (std::uint64_t age = 1; age < 7; ++age) {
      const Origin origin{age + 10, age};
      const WorkerId member = roster.number(origin);
      members.grow();
      members[member].record = {.origin = origin, .version = 1, .joined = true, .joined_at = age};
      members.set_state(member, MemberState::here, 1);
    }
    tree.draw(1);
    for (std::size_t i = 0; i < 7; ++i) cards[worker_id(i)] = {100, i < 3, i < 3 ? 100.F : 0};
  }
  std::optional<std::size_t> leaf_for(std::size_t relay, Nanoseconds now) {
    const auto change =
        tree.find_slow([this](WorkerId m) { return cards[m]; },
                       [this](WorkerId a, WorkerId b) { return linked(a, b); }, now, 10);
    if (!change) return std::nullopt;
    EXPECT_EQ(index(change->relay), relay);
    return index(change->leaf);
  }

  Roster roster;
  Membership members{{.origin = {10, 0}, .joined = true}, roster, {}};
  Tree tree{2, members};
  std::map<WorkerId, Card> cards;
  Tree::Linked linked = [](WorkerId, WorkerId) { return true; };
};

constexpr WorkerId relay{1};

TEST_F(Places, AreChangedWhereARelayHasBeenSlowForLong) {
  EXPECT_FALSE(leaf_for(1, 0));
  cards[relay] = {51, true, 51};  // of 100: that is not clear
  EXPECT_FALSE(leaf_for(1, 1));
  EXPECT_FALSE(leaf_for(1, 20));
  cards[relay] = {49, true, 49};
  EXPECT_FALSE(leaf_for(1, 30));
  EXPECT_FALSE(leaf_for(1, 39));
  const auto leaf = leaf_for(1, 40);
  ASSERT_EQ(leaf, 3u);  // the oldest
  EXPECT_TRUE(tree.make({relay, worker_id(*leaf)}, 1));
  EXPECT_EQ(index(tree.drawn()[1]), 3u);
  EXPECT_EQ(tree.drawn()[3], relay);
}

TEST_F(Places, AreNotChangedForARelayThatHasLittleToCarry) {
  cards[relay] = {10, false, 0};
  EXPECT_FALSE(leaf_for(1, 0));
  EXPECT_FALSE(leaf_for(1, 100));
}

// The links are the limit: who has more of them carries more.
TEST_F(Places, AreNotChangedWhereEachLinkCarriesAsMuch) {
  for (std::size_t i = 0; i < 7; ++i) cards[worker_id(i)] = {30, true, 0};
  cards[WorkerId{0}].rate = 60;
  cards[relay] = cards[WorkerId{2}] = {90, true, 90};
  EXPECT_FALSE(leaf_for(0, 0));
  EXPECT_FALSE(leaf_for(0, 100));
}

TEST_F(Places, GoToALeafThatIsNotKnownToBeSlow) {
  cards[relay] = {20, true, 20};
  cards[worker_id(3)].limit = 30;       // was a relay
  cards[worker_id(5)] = {30, true, 0};  // its parent waits for nothing
  cards[worker_id(2)].is_full = false;
  cards[worker_id(3)].rate = cards[worker_id(4)].rate = cards[worker_id(6)].rate = 30;
  EXPECT_FALSE(leaf_for(1, 0));
  EXPECT_EQ(leaf_for(1, 10), 4u);
  cards[worker_id(6)].rate = 41;  // that is clear
  EXPECT_EQ(leaf_for(1, 11), 6u);
  cards[worker_id(6)].rate = 30;
  const WorkerId away = worker_id(4);
  linked = [away](WorkerId a, WorkerId b) { return index(a) != 0 || b != away; };
  EXPECT_EQ(leaf_for(1, 12), 6u);
}

/// Cheap to compute and large to send.
struct LargeUpdates final : Objective<double> {
  std::size_t dimension() const override { return 2000; }
  std::vector<double> start() const override { return std::vector<double>(2000, 1.0); }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    std::copy(x.begin(), x.end(), g.begin());
    return 1;
  }
};

constexpr Nanoseconds usual = 10 * second, never = 1'000 * second;

/// Twelve members in a tree, the first at the top: their cards send a byte in so many nanoseconds.
/// Each computes five gradients of 16 kB in a second.
struct SlowCards {
  explicit SlowCards(const std::vector<std::size_t>& slow, Nanoseconds patience = usual)
      : world(problem, options(slow, patience)) {
    for (std::size_t i = 0; i < 12; ++i) {
      world.add();
      world.run_for(second / 4);
    }
    world.run_for(50 * second);
    const auto before = sum();
    world.run_for(15 * second);
    const auto after = sum();
    S_avg = (after.first - before.first) / (after.second - before.second);
    for (const std::string& line : world.history())
      moves += line.find("takes the place of") != line.npos ? 1 : 0;
    world.stop_run(0);
    EXPECT_TRUE(world.run_until_over(60 * second));
    EXPECT_EQ(world.verify(), "");
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_TRUE(world.protocol(i).audit().agreed);
      EXPECT_EQ(world.protocol(i).audit().abandoned.size(), 0u);
    }
  }

  static WorldOptions options(const std::vector<std::size_t>& slow, Nanoseconds patience) {
    WorldOptions options = quick_world(3);
    options.protocol.limits = {};
    options.protocol.limits.children = 2;
    options.protocol.limits.most_queued_bytes = 8 << 10;
    options.protocol.report_every = second;
    options.protocol.patience = {};
    options.protocol.patience.gone = patience;
    std::vector<Nanoseconds> per_byte(12, 2'500);
    for (const std::size_t member : slow) per_byte[member] *= 4;
    options.arrival = one_frame_at_a_time([per_byte](std::size_t from, std::size_t bytes) {
      return per_byte[from] * static_cast<Nanoseconds>(bytes);
    });
    return options;
  }
  std::pair<double, double> sum() {
    std::pair<double, double> all{0, 0};
    for (std::size_t i = 0; i < world.size(); ++i) {
      all.first += static_cast<double>(world[i].run.S().sum);
      all.second += static_cast<double>(world[i].run.S().applications);
    }
    return all;
  }

  const LargeUpdates problem;
  World<double> world;
  double S_avg = 0;  // at the end
  std::size_t moves = 0;
};

TEST(MembersWithEqualCards, StayWhereTheyAre) {
  const SlowCards members({});
  EXPECT_EQ(members.moves, 0u);
}

TEST(MembersWithSlowCards, BecomeLeaves) {
  const double equal = SlowCards({}).S_avg;
  for (const std::vector<std::size_t>& slow : {std::vector<std::size_t>{0}, {1, 2, 4}}) {
    const SlowCards stay(slow, never), move(slow);
    EXPECT_EQ(stay.moves, 0u);
    EXPECT_EQ(move.moves, slow.size());
    EXPECT_LT(1.3 * move.S_avg, stay.S_avg);
    EXPECT_LT(move.S_avg, 1.1 * equal);
    RecordProperty(fmt::format("S_avg_with_{}_slow", fmt::join(slow, "_")),
                   fmt::format("{:.1f}, moved {:.1f}", stay.S_avg, move.S_avg));
  }
}

TEST(MembersWithSlowCards, ThatAreLeavesStayLeaves) {
  const SlowCards members({9, 11});
  EXPECT_EQ(members.moves, 0u);
}

}  // namespace
}  // namespace dasgd::elastic::test
