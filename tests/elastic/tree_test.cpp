// Members that form a tree: who is whose neighbour, and what goes over which link.
#include "dasgd/elastic/tree.hpp"

#include <gtest/gtest.h>

#include "elastic/scenario.hpp"

namespace dasgd::elastic::test {
namespace {

/// Five members, of whom this one is the second oldest.
struct Trees : ::testing::Test {
  Trees() {
    for (std::uint64_t age = 0; age < 5; ++age)
      if (age != 1)
        numbers.push_back(joins(age));
      else
        numbers.push_back(Membership::self);
  }
  WorkerId joins(std::uint64_t step) {
    const Origin origin{step + 10, numbers.size()};
    const WorkerId member = roster.number(origin);
    members.grow();
    members[member].record = {.origin = origin, .version = 1, .joined = true, .joined_at = step};
    members.set_state(member, MemberState::here, 1);
    return member;
  }
  std::vector<WorkerId> of(std::vector<std::size_t> ages) const {
    std::vector<WorkerId> all;
    for (const std::size_t age : ages) all.push_back(numbers[age]);
    return all;
  }
  bool dies(std::size_t age) {
    members.set_state(numbers[age], MemberState::dead, 2);
    return tree.draw(100);
  }

  Roster roster;
  Membership members{{.origin = {11, 0}, .joined = true, .joined_at = 1}, roster, {}};
  std::vector<WorkerId> numbers;  // by age
  Tree tree{2, members};
};

TEST_F(Trees, AreDrawnByTheOldestAlone) {
  EXPECT_FALSE(tree.draw(1));
  EXPECT_TRUE(tree.drawn().empty());
  EXPECT_FALSE(tree.take(of({0, 1, 2, 3, 4}), numbers[2], 1));
  EXPECT_FALSE(tree.take(of({0, 1, 1}), numbers[0], 1));  // nonsense
  EXPECT_TRUE(tree.take(of({0, 1, 2, 3, 4}), numbers[0], 1));
  EXPECT_EQ(tree.neighbours().size(), 3u);
  EXPECT_STREQ(tree.relation(numbers[0]), "parent");
  EXPECT_STREQ(tree.relation(numbers[3]), "child");
  EXPECT_STREQ(tree.relation(numbers[4]), "child");
  EXPECT_STREQ(tree.relation(numbers[2]), "");
}

TEST_F(Trees, TheLastTakesTheEmptyPlaceAndOthersStay) {
  ASSERT_TRUE(tree.take(of({0, 1, 2, 3, 4}), numbers[0], 1));
  EXPECT_TRUE(dies(0));  // this one is the oldest now, and the last moves to the top
  EXPECT_EQ(tree.drawn(), of({4, 1, 2, 3}));
  EXPECT_STREQ(tree.relation(numbers[4]), "parent");
  EXPECT_EQ(tree.begin(numbers[4]), 0u);  // it was a leaf here: the link was one of the tree before
  dies(4);
  EXPECT_EQ(tree.drawn(), of({3, 1, 2}));
  EXPECT_TRUE(dies(3));
  EXPECT_EQ(tree.drawn(), of({2, 1}));
  EXPECT_EQ(tree.begin(numbers[2]), 100u);  // what came before is not sent over a new edge
}

TEST_F(Trees, NewcomersAreLeaves) {
  ASSERT_TRUE(tree.take(of({0, 1, 2, 3, 4}), numbers[0], 1));
  dies(0);
  numbers.push_back(joins(2));  // as old as another by its step, but new here
  EXPECT_TRUE(tree.draw(200));
  EXPECT_EQ(tree.drawn(), of({4, 1, 2, 3, 5}));
  EXPECT_EQ(tree.begin(numbers[5]), 0u);
  EXPECT_STREQ(tree.relation(numbers[5]), "child");
}

TEST_F(Trees, NeighboursThatCannotReachEachOtherAreMovedApart) {
  ASSERT_TRUE(tree.take(of({0, 1, 2, 3, 4}), numbers[0], 1));
  WorkerId a = numbers[1], b = numbers[3];  // parent and child
  const auto linked = [&](WorkerId c, WorkerId d) {
    return !((c == a && d == b) || (c == b && d == a));
  };
  EXPECT_FALSE(tree.mend(linked, 0, 10, 1));
  EXPECT_FALSE(tree.mend(linked, 20, 10, 1));  // not this member's to do
  dies(0);
  ASSERT_EQ(tree.drawn(), of({4, 1, 2, 3}));
  EXPECT_FALSE(tree.mend(linked, 30, 10, 300));
  EXPECT_FALSE(tree.mend(linked, 39, 10, 300));
  EXPECT_TRUE(tree.mend(linked, 40, 10, 300));
  EXPECT_EQ(tree.drawn(), of({4, 1, 3, 2}));  // the leaves have changed places
  EXPECT_FALSE(tree.mend(linked, 60, 10, 300));
  b = numbers[2];
  EXPECT_FALSE(tree.mend(linked, 70, 10, 300));
  b = numbers[0];  // all have links again: the time begins again
  EXPECT_FALSE(tree.mend(linked, 80, 10, 300));
  b = numbers[2];
  EXPECT_FALSE(tree.mend(linked, 81, 10, 300));
  EXPECT_TRUE(tree.mend(linked, 91, 10, 300));
  EXPECT_EQ(tree.drawn(), of({4, 1, 2, 3}));
  a = numbers[4];  // the one at the top reaches nobody: better a leaf, with one neighbour
  const auto without_it = [&](WorkerId c, WorkerId d) { return c != a && d != a; };
  EXPECT_FALSE(tree.mend(without_it, 101, 10, 300));
  EXPECT_EQ(tree.drawn(), of({4, 1, 2, 3}));
  EXPECT_FALSE(tree.mend(without_it, 111, 10, 300));  // this one has the neighbours that it had
  EXPECT_EQ(tree.drawn(), of({3, 1, 2, 4}));
}

// No pair has lacked its link for long, though some pair always does.
TEST_F(Trees, NobodyMovesForALinkThatWasGoneForAMoment) {
  dies(0);
  const auto drawn = tree.drawn();
  for (Nanoseconds now = 0; now < 100; now += 5)
    for (const Nanoseconds later : {0, 4}) {
      const WorkerId lonely = drawn[1 + static_cast<std::size_t>(now / 5) % 3];
      const auto linked = [&](WorkerId a, WorkerId b) { return a != lonely && b != lonely; };
      EXPECT_FALSE(tree.mend(linked, now + later, 10, 1));
    }
  EXPECT_EQ(tree.drawn(), drawn);
}

/// What members send whose cards carry about fifty updates per second.
struct Sent {
  std::uint64_t messages = 0, gradients = 0, bytes = 0, past_the_tree = 0, adoptions = 0;
};

Sent play_on_thin_cards(std::size_t count, std::size_t children) {
  static const Quadratic objective = Quadratic::random(7, 1000);
  WorldOptions options = quick_world(3);
  options.protocol.limits.children = children;
  options.protocol.limits.most_queued_bytes = 1;
  options.protocol.limits.most_waiting_bytes = 64 << 20;
  options.protocol.patience.suspect = options.protocol.patience.gone = 20'000'000'000;
  options.arrival = one_frame_at_a_time(
      [](std::size_t, std::size_t bytes) { return 2'500 * static_cast<Nanoseconds>(bytes); });
  World<double> world(objective, options);
  for (std::size_t i = 0; i < count; ++i) {
    world.add();
    world.run_for(1'000'000'000);
  }
  world.run_for(10'000'000'000);
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(60'000'000'000));
  EXPECT_EQ(world.verify(), "");
  Sent sent;
  for (std::size_t i = 0; i < count; ++i) {
    const auto audit = world.protocol(i).audit();
    EXPECT_TRUE(audit.agreed);
    EXPECT_EQ(audit.abandoned.size(), 0u);
    sent.messages += audit.sent.messages;
    sent.bytes += audit.sent.bytes;
    for (const LinkFigures& link : audit.links) {
      sent.gradients += link.gradients;
      if (link.relation.empty()) sent.past_the_tree += link.gradients;
    }
  }
  for (const std::string& line : world.history())
    sent.adoptions += line.find("adopted") != line.npos;
  return sent;
}

TEST(MembersInATree, SendSumsOverItsLinksAlone) {
  const Sent mesh = play_on_thin_cards(12, 0), tree = play_on_thin_cards(12, 2);
  EXPECT_EQ(mesh.past_the_tree, mesh.gradients);
  EXPECT_LT(tree.past_the_tree * 50, tree.gradients);  // what members lacked that had just come
  EXPECT_EQ(tree.adoptions, 0u);
  EXPECT_LT(3 * tree.messages, 2 * mesh.messages);
  EXPECT_LT(4 * tree.bytes, 3 * mesh.bytes);
}

// The second and the fourth cannot reach each other, and would be neighbours.
TEST(MembersInATree, AreNeighboursOnlyWhereTheyReachEachOther) {
  static const Quadratic objective = Quadratic::random(7, 4);
  WorldOptions options = quick_world(5);
  options.protocol.limits.children = 2;
  World<double> world(objective, options);
  world.cut([](std::size_t a, std::size_t b) { return std::min(a, b) == 1 && std::max(a, b) == 3; },
            1'000'000'000'000);
  for (std::size_t i = 0; i < 6; ++i) {
    world.add();
    world.run_for(1'000'000'000);
  }
  world.run_for(20'000'000'000);
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (const MemberView& other : world.protocol(i).members(world.now())) {
      if (other.relation.empty()) continue;
      ++neighbours;
      if (i == 1) EXPECT_NE(other.origin, world.protocol(3).options().origin);
    }
  EXPECT_EQ(neighbours, 10u);
  world.stop_run(0);
  EXPECT_TRUE(world.run_until_over(60'000'000'000));
  EXPECT_EQ(world.verify(), "");
}

// Every member once: the one at the top, relays and leaves.
TEST(MembersInATree, LoseNothingThatASurvivorHadWhenOneIsKilled) {
  static const Quadratic objective = Quadratic::random(7, 4);
  for (std::size_t killed = 0; killed < 9; ++killed) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      WorldOptions options = quick_world(seed);
      options.protocol.limits.children = 2;
      options.protocol.limits.most_queued_bytes = 1;
      options.latency = 30'000'000;
      World<double> world(objective, options);
      for (std::size_t i = 0; i < 9; ++i) {
        world.add();
        world.run_for(1'000'000'000);
      }
      world.run_for(static_cast<Nanoseconds>(500 + 77 * seed) * 1'000'000);
      const Origin origin = world.protocol(killed).options().origin;
      const auto last_of = [&](std::size_t i) {
        const auto numbers = world.protocol(i).numbering();
        std::uint64_t held = 0;
        for (std::size_t k = 0; k < numbers.size(); ++k)
          if (numbers[k].first == origin) held = world.protocol(i).held().size_of(worker_id(k));
        return held;
      };
      world.crash(killed);
      std::uint64_t most = 0;
      for (std::size_t i = 0; i < 9; ++i)
        if (i != killed) most = std::max(most, last_of(i));
      world.run_for(10'000'000'000);
      world.stop_run(killed == 0 ? 1 : 0);
      EXPECT_TRUE(world.run_until_over(60'000'000'000)) << killed;
      EXPECT_EQ(world.verify(), "") << killed;
      for (std::size_t i = 0; i < 9; ++i) {
        if (i == killed) continue;
        EXPECT_GE(last_of(i), most) << i << " after the death of " << killed;
        EXPECT_EQ(world.protocol(i).audit().abandoned.size(), 0u) << i;
        EXPECT_TRUE(world.protocol(i).audit().agreed) << i;
      }
    }
  }
}

// Killed at any step and in any role, while others come and leave: `elastic_scenarios 1 100 2
// deaths` plays more of them.
TEST(MembersInATree, GiveNothingUpWhereOthersOnlyDie) {
  std::size_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Outcome outcome = play(seed, seed % 2 == 0 ? 2 : 4, true);
    EXPECT_EQ(outcome.wrong, "") << "seed " << seed;
    crashes += outcome.crashes;
  }
  EXPECT_GT(crashes, 300u);
}

}  // namespace
}  // namespace dasgd::elastic::test
