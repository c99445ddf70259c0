// Members that come, die, freeze, are cut off and come back, in virtual time: what must hold
// whatever happens.
#include <gtest/gtest.h>

#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic {
namespace {

class Scenarios : public testing::TestWithParam<std::uint64_t> {};

// `elastic_scenarios SEED 1 -v` prints the events of one that fails.
TEST_P(Scenarios, ModelsAreTheSumsOfTheirNamesAndNothingIsForgotten) {
  constexpr std::uint64_t each = 250;
  std::uint64_t with_losses = 0, compared = 0;
  for (std::uint64_t seed = GetParam() * each + 1; seed <= (GetParam() + 1) * each; ++seed) {
    const Outcome outcome = play(seed);
    EXPECT_EQ(outcome.wrong, "") << "seed " << seed;
    EXPECT_GE(outcome.events, 10u) << "seed " << seed;
    with_losses += outcome.abandoned > 0 ? 1 : 0;
    compared += outcome.compared;
  }
  // Where members met through others in an order that their copies do not cover.
  EXPECT_LE(with_losses, each / 50);
  EXPECT_GT(compared, each);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Scenarios, testing::Range<std::uint64_t>(0, 8));

WorldOptions calm_world() {
  WorldOptions options = quick_world(3);
  options.compute = 20'000'000;
  return options;
}

const Quadratic& objective() {
  static const Quadratic problem = Quadratic::random(7, 4);
  return problem;
}

void expect_agreement(World<double>& world, std::size_t survivors) {
  EXPECT_EQ(world.verify(), "");
  std::size_t found = 0;
  std::string names;
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (!world.is_alive(i) || !world.is_over(i) || !world.protocol(i).audit().agreed) continue;
    const std::string mine = world.protocol(i).audit().names.text();
    EXPECT_EQ(world.protocol(i).audit().digests.size(), survivors);
    if (found++ > 0) {
      EXPECT_EQ(mine, names);
    }
    names = mine;
  }
  EXPECT_EQ(found, survivors);
}

void expect_nothing_given_up(World<double>& world) {
  for (std::size_t i = 0; i < world.size(); ++i)
    EXPECT_EQ(world.protocol(i).audit().abandoned.size(), 0u) << i;
}

TEST(Elastic, OneAloneIsARun) {
  World<double> world(objective(), calm_world());
  world.add();
  world.run_for(1'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 1);
  EXPECT_GT(world.worker(0).t(), 20u);
}

TEST(Elastic, ANewcomerGoesOnWithTheModelOfTheOthers) {
  World<double> world(objective(), calm_world());
  world.add();
  world.run_for(3'000'000'000);
  world.add();
  world.run_for(3'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 2);
  const auto audit = world.protocol(1).audit();
  EXPECT_GT(audit.joined_at, 50u);
  EXPECT_TRUE(audit.lost_gradients.empty());
  // Adoption is not an application: nobody's staleness has seen the gradients of before.
  EXPECT_LT(world[1].run.S().max, 50u);
}

TEST(Elastic, OthersGoOnWhenTheFirstIsKilled) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 3; ++i) world.add(), world.run_for(500'000'000);
  const std::uint64_t before = world.worker(1).t();
  world.crash(0);
  world.run_for(1'000'000'000);
  EXPECT_GT(world.worker(1).t(), before + 40);
  world.add();
  world.run_for(1'000'000'000);
  world.stop_run(2);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 3);
  EXPECT_EQ(world.protocol(1).audit().lost_members, 1u);
}

// Each of the others has heard another last word of the dead, and passes it on.
TEST(Elastic, TheDeadStayDeadWhateverOthersHeardOfThemLast) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 8; ++i) world.add(), world.run_for(300'000'000);
  for (const std::size_t dead : {0, 3, 5}) world.crash(dead);
  world.run_for(8'000'000'000);
  for (const std::string& line : world.history())
    EXPECT_EQ(line.find("silent"), std::string::npos) << line;
  for (const std::size_t i : {1, 2, 4, 6, 7}) {
    std::size_t dead = 0;
    for (const MemberView& m : world.protocol(i).members(world.now())) dead += m.state == "dead";
    EXPECT_EQ(dead, 3u) << i;
  }
  world.stop_run(1);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 5);
}

TEST(Elastic, ACutOffSidePausesAndComesBackWithAllItHas) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 5; ++i) world.add(), world.run_for(300'000'000);
  world.cut({false, false, false, true, true}, 5'000'000'000);
  world.run_for(4'000'000'000);
  const std::uint64_t paused = world.worker(4).t();
  world.run_for(500'000'000);
  EXPECT_EQ(world.worker(4).t(), paused);
  EXPECT_GT(world.worker(0).t(), paused + 100);
  world.run_for(8'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(world.protocol(i).audit().lost_gradients.empty());
    EXPECT_EQ(world.protocol(i).audit().abandoned.size(), 0u);
  }
}

// Both sides went on, and then each met one of the other's: what they did is in all models once.
TEST(Elastic, NothingIsGivenUpWhereSidesMeetThroughOthers) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 4; ++i) world.add(), world.run_for(300'000'000);
  world.cut({false, false, true, true}, 12'000'000'000);
  world.run_for(12'000'000'000);
  world.cut({false, true, false, true}, 12'000'000'000);
  world.run_for(30'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(10'000'000'000));
  expect_agreement(world, 4);
  expect_nothing_given_up(world);
}

// Two who see each other only through a third: when that has ended, they have all they need.
TEST(Elastic, WhoStandsBetweenTwoDoesNotLeaveThemWaiting) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 3; ++i) world.add(), world.run_for(300'000'000);
  world.cut([](std::size_t a, std::size_t b) { return a + b == 2 && a != b; }, 60'000'000'000);
  world.run_for(8'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(1'800'000'000));  // before one of them is silent for long
  expect_agreement(world, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(world.protocol(i).audit().here, 3u) << i;
}

TEST(Elastic, ANewcomerOnACutOffSideDoesNotMakeItLarge) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 3; ++i) world.add(), world.run_for(300'000'000);
  world.cut({true, true, false}, 7'000'000'000);  // a newcomer now sees the third alone
  world.run_for(2'500'000'000);
  const std::uint64_t paused = world.worker(2).t();
  world.add();
  world.add();
  world.run_for(3'000'000'000);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_LE(world.worker(i).t(), paused + 100) << i;
  world.run_for(10'000'000'000);
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(10'000'000'000));
  expect_agreement(world, 5);
}

// Copies of the model of the parting died too, so that one side gives up what it did, by name.
// A newcomer was reported the other side's newcomer when it came, and of nobody else who still
// lives.
TEST(Elastic, SidesMeetAgainAlthoughAllWhoKnewBothAreDead) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 2; ++i) world.add(), world.run_for(300'000'000);
  world.cut([](std::size_t a, std::size_t b) { return a % 2 != b % 2; }, 12'000'000'000);
  for (int i = 0; i < 2; ++i) world.add(), world.run_for(1'000'000'000);
  for (const std::size_t elder : {0, 1}) {
    ASSERT_TRUE(world.protocol(elder + 2).has_joined());
    world.crash(elder);
  }
  world.run_for(20'000'000'000);
  world.stop_run(2);
  ASSERT_TRUE(world.run_until_over(10'000'000'000));
  expect_agreement(world, 2);
}

TEST(Elastic, WhoNeverGotAModelDoesNotEndTheRun) {
  World<double> world(objective(), calm_world());
  world.add();
  world.run_for(500'000'000);
  world.add();
  world.run_for(500'000);           // it has dialed
  world.freeze(1, 12'000'000'000);  // for longer than it tries
  world.run_for(14'000'000'000);
  EXPECT_TRUE(world.is_over(1));
  EXPECT_FALSE(world.is_over(0));
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 1);
}

TEST(Elastic, WhoLeavesHandsOverWhatItHas) {
  World<double> world(objective(), calm_world());
  for (int i = 0; i < 3; ++i) world.add(), world.run_for(300'000'000);
  world.leave(1);
  world.run_for(2'000'000'000);
  EXPECT_TRUE(world.is_over(1));
  world.stop_run(0);
  ASSERT_TRUE(world.run_until_over(5'000'000'000));
  expect_agreement(world, 2);
  EXPECT_TRUE(world.protocol(0).audit().lost_gradients.empty());
  EXPECT_EQ(world.protocol(0).audit().left, 1u);
}

// A member that joins late sees small losses only, and has to know what was usual.
TEST(Elastic, HowLargeLossesWereIsReportedToWhoeverJoins) {
  World<double> world(objective(), calm_world());
  world.add();
  world.add();
  world.run_for(1'000'000'000);
  world[0].protocol.note_early_loss(1e6);
  world.run_for(1'000'000'000);
  world.crash(0);
  world.add();
  world.run_for(2'000'000'000);
  EXPECT_EQ(world[2].good.early_loss(), 1e6);
}

TEST(Elastic, ABudgetIsThatOfAllTogether) {
  WorldOptions options = calm_world();
  options.protocol.budget.gradients = 300;
  World<double> world(objective(), options);
  for (int i = 0; i < 3; ++i) world.add();
  ASSERT_TRUE(world.run_until_over(60'000'000'000));
  expect_agreement(world, 3);
  EXPECT_GE(world.worker(0).t(), 300u);
  EXPECT_LE(world.worker(0).t(), 320u);
}

// Every hundredth frame is cut short or has something behind it: its link is given up and made
// again.
// A link that breaks at the very end may cost a digest as well: then that model is not compared.
TEST(Elastic, ABrokenFrameCostsALinkAndNothingElse) {
  std::size_t broken = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    WorldOptions options = calm_world();
    options.mangle = [&](Bytes& frame) {
      if (random() % 100 != 0) return;
      ++broken;
      frame.resize(random() % 2 ? frame.size() + 1 + random() % 9 : random() % frame.size());
    };
    World<double> world(objective(), options);
    for (int i = 0; i < 4; ++i) world.add(), world.run_for(300'000'000);
    world.run_for(10'000'000'000);
    world.stop_run(0);
    ASSERT_TRUE(world.run_until_over(30'000'000'000)) << seed;
    EXPECT_EQ(world.verify(), "") << seed;
    const std::string names = world.protocol(0).audit().names.text();
    bool all = true;
    for (std::size_t i = 0; i < world.size(); ++i) {
      const auto audit = world.protocol(i).audit();
      EXPECT_EQ(audit.names.text(), names) << seed;
      all = all && audit.agreed && audit.digests.size() == world.size();
    }
    compared += all ? 1 : 0;
    expect_nothing_given_up(world);
  }
  EXPECT_GT(broken, 1000u);
  EXPECT_GE(compared, 15u);
}

// A member may say anything. That may spoil a model, but brings nobody down.
TEST(Elastic, WhateverAFrameSaysNobodyFalls) {
  std::uint64_t mangled = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    WorldOptions options = quick_world(seed);
    options.compute = 50'000'000;
    options.mangle = [&](Bytes& frame) {
      if (random() % 20 != 0 || frame.empty()) return;
      ++mangled;
      for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
        frame[random() % frame.size()] ^= static_cast<std::byte>(1u << random() % 8);
    };
    World<double> world(objective(), options);
    for (int i = 0; i < 3; ++i) world.add(), world.run_for(200'000'000);
    world.run_for(5'000'000'000);
    for (std::size_t i = 0; i < world.size(); ++i) world.stop_run(i);
    world.run_for(5'000'000'000);
  }
  EXPECT_GT(mangled, 1'000u);
}

TEST(Messages, AShiftBeyondWhatSumsTakeIsRefused) {
  Roster roster;
  roster.number({1, 2});
  const auto is_read = [&](int shift, NumberFormat format) {
    Introductions out, in;
    Roster other;
    return decode(encode(GradientMessage{{}, shift, format}, out, roster), in, other).has_value();
  };
  EXPECT_TRUE(is_read(FixedPoint<float>::largest_shift, NumberFormat::of_float));
  EXPECT_FALSE(is_read(FixedPoint<float>::largest_shift + 1, NumberFormat::of_float));
  EXPECT_TRUE(is_read(FixedPoint<double>::largest_shift, NumberFormat::of_double));
  EXPECT_FALSE(is_read(FixedPoint<double>::largest_shift + 1, NumberFormat::of_double));
  EXPECT_FALSE(is_read(-1, NumberFormat::of_double));
}

TEST(Messages, WhatIsCutOrExtendedIsRefused) {
  Roster roster, other;
  roster.number({1, 2});
  roster.number({3, 4});
  Introductions out;
  GradientSet held;
  held.insert_range({WorkerId{1}, 0, 7});
  const Bytes bytes =
      encode(Report{held, true, {Record{.origin = {3, 4}, .version = 5}}, 6}, out, roster);
  {
    Introductions in;
    const auto message = decode(bytes, in, other);
    ASSERT_TRUE(message);
    const auto& report = std::get<Report>(*message);
    EXPECT_EQ(report.held.size(), 7u);
    EXPECT_EQ(report.records.at(0).version, 5u);
    EXPECT_EQ(report.taken, 6u);
  }
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    Introductions in;
    EXPECT_FALSE(decode(std::span(bytes).first(n), in, other)) << n;
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  Introductions in;
  EXPECT_FALSE(decode(longer, in, other));
}

// A run that has seen thousands: what is said of them once is not said again with every gradient.
TEST(Messages, ASetCostsWhatHasChangedInIt) {
  constexpr std::uint32_t members = 5000;
  Roster here, there;
  Introductions out, in;
  there.number({9, 9});  // the other end has numbers of its own
  GradientSet names;
  for (std::uint32_t k = 0; k < members; ++k)
    names.insert_range({here.number({1, k}), 0, 7 + k % 3});
  const auto carried = [&](std::size_t most) {
    const Bytes bytes = encode(Report{names, true, {}, 0}, out, here);
    EXPECT_LE(bytes.size(), most);
    const auto message = decode(bytes, in, there);
    ASSERT_TRUE(message);
    GradientSet expected;
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      expected.insert_range({*there.find(here.origin(o)), first, last});
    });
    EXPECT_TRUE(std::get<Report>(*message).held == expected);
  };
  carried(members * 30);
  carried(100);
  names.insert({worker_id(17), names.prefix(worker_id(17))});
  names.insert({worker_id(4000), 12});  // behind a gap
  carried(100);
  GradientSet fewer = names.without({});
  fewer.intersect(GradientSet());
  names = fewer;  // somebody has given all of it up
  carried(members * 10);
  carried(100);
}

TEST(Messages, ANumberThatWasNotIntroducedIsRefused) {
  Roster roster;
  roster.number({1, 2});
  Introductions out;
  (void)encode(Want{}, out, roster);  // introduces the first
  GradientSet held;
  held.insert({WorkerId{0}, 0});
  const Bytes second = encode(Report{held, true, {}}, out, roster);
  Introductions in;
  Roster other;
  EXPECT_FALSE(decode(second, in, other));
}

}  // namespace
}  // namespace dasgd::elastic
