#include "dasgd/transport/message_chooser.hpp"

#include <gtest/gtest.h>

#include "dasgd/elastic/world/sim_member.hpp"
#include "elastic/scenario.hpp"

namespace dasgd::elastic {
namespace {

constexpr Nanoseconds a_second = 1'000'000'000;

/// A link on which a full message takes as long as so many gradients.
struct ThinLink {
  double gradients;
  MessageChooser chooser;
  Nanoseconds now = 0;

  MessageFormat after(int messages) {
    for (; messages > 0; --messages) {
      const double bits = bits_of(chooser.format(), NumberFormat::of_float);
      const auto waited = static_cast<std::size_t>(std::max(1.0, gradients * bits / 32));
      now += static_cast<Nanoseconds>(waited) * a_second / 10;
      chooser.sent(waited, now);
    }
    return chooser.format();
  }
};

TEST(MessageChooser, TakesTheMostBitsThatBringTwoGradientsAtMost) {
  EXPECT_EQ(ThinLink{0.1}.after(100), MessageFormat::full);
  EXPECT_EQ(ThinLink{2}.after(100), MessageFormat::full);
  EXPECT_EQ(ThinLink{4}.after(100), MessageFormat::int8);
  EXPECT_EQ(ThinLink{10}.after(100), MessageFormat::int8);
  EXPECT_EQ(ThinLink{20}.after(100), MessageFormat::int4);
  EXPECT_EQ(ThinLink{40}.after(100), MessageFormat::ternary);
  EXPECT_EQ(ThinLink{4000}.after(100), MessageFormat::ternary);
}

TEST(MessageChooser, OneFullMessageIsNoThinLink) {
  MessageChooser chooser;
  for (int k = 0; k < 160; ++k) chooser.sent(k == 20 ? 1000 : 1, 0);
  EXPECT_EQ(chooser.format(), MessageFormat::full);
  EXPECT_EQ(chooser.waited(), 0);
}

TEST(MessageChooser, TriesMoreBitsEverMoreSeldom) {
  ThinLink link{4};
  int tries = 0;
  MessageFormat before = link.after(100);
  while (link.now < 3600 * a_second) {
    const MessageFormat now = link.after(1);
    tries += now == MessageFormat::full && before != now;
    before = now;
  }
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 8);
  link.gradients = 0.1;  // the network has become fast
  link.after(100'000);
  EXPECT_EQ(link.chooser.format(), MessageFormat::full);
}

TEST(MessageChooser, TriesMoreBitsAfterHalfAMinuteAndThenAfterTwiceAsLong) {
  MessageChooser chooser;
  const auto format_after = [&](std::size_t gradients, Nanoseconds now) {
    for (int k = 0; k < 16; ++k) chooser.sent(gradients, now);
    return chooser.format();
  };
  EXPECT_EQ(chooser.waited(), 0);
  const MessageFormat fewer = format_after(3, a_second);
  EXPECT_NE(fewer, MessageFormat::full);
  EXPECT_EQ(chooser.waited(), 3);
  EXPECT_EQ(format_after(1, 31 * a_second - 1), fewer);
  EXPECT_EQ(format_after(1, 31 * a_second), MessageFormat::full);
  EXPECT_EQ(chooser.waited(), 1);
  EXPECT_EQ(format_after(3, 40 * a_second), fewer);  // that was too much
  EXPECT_EQ(format_after(1, 100 * a_second - 1), fewer);
  EXPECT_EQ(format_after(1, 100 * a_second), MessageFormat::full);
}

// Whatever formats members change to, and when: their models end with the same bits.
TEST(MessageChooser, LeavesModelsIdentical) {
  const Quadratic objective = Quadratic::random(7, 400);
  WorldOptions options = quick_world(3);
  options.run.message = MessageFormat::automatic;
  options.compute = 20'000'000;
  options.protocol.chooses_message = true;
  options.protocol.limits.most_queued_bytes = 1;
  options.protocol.limits.most_waiting_bytes = 1 << 20;
  options.arrival = one_frame_at_a_time([](std::size_t from, std::size_t bytes) {
    return static_cast<Nanoseconds>(bytes) * (from == 0 ? 200'000'000 / 3'200 : 1'000);
  });
  World<double> world(objective, options);
  world.add();
  world.run_for(1'000'000'000);
  world.add();
  world.add();
  world.run_for(20'000'000'000);
  EXPECT_NE(world.protocol(0).chosen_format(), MessageFormat::full);
  EXPECT_EQ(world.protocol(1).chosen_format(), MessageFormat::full);
  EXPECT_TRUE(world.worker(0).has_residual());
  world.leave(0);
  world.run_for(10'000'000'000);
  EXPECT_FALSE(world.worker(0).has_residual());  // it was handed over
  world.stop_run(1);
  EXPECT_TRUE(world.run_until_over(60'000'000'000));
  EXPECT_EQ(world.verify(), "");
}

}  // namespace
}  // namespace dasgd::elastic
