// When members agree that the run is over.
#include <gtest/gtest.h>
#include <variant>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

// The worker needs a moment to go over to another model and to make the gradient that corrects it.
// Whoever agreed with the others in that moment would end with one gradient more than they.
TEST(End, WaitsForTheGradientThatCorrectsAnAdoption) {
  Said network;
  Protocol one(
      {.origin = {1, 1}, .facts = "same", .founder = true, .dimension = dimension, .in_flight = 1},
      network);
  Peer other(one, LinkId{1}, {2, 2});
  constexpr std::uint32_t branch = 20;
  GradientSet theirs, both;
  theirs.insert_range({other.roster.number({2, 2}), 0, branch});
  both = theirs;
  both.insert_range({other.roster.number({1, 1}), 0, branch});
  other.report(true, 1);
  for (std::uint32_t i = 0; i < branch; ++i) compute(one, i, 2);
  one.stop_run(StopReason::asked, 3);
  one.stopped(3);
  for (Nanoseconds now : {4, 5}) other.report_stopped(theirs, false, now);
  ASSERT_EQ(network.count<Want>(other.link), 1u);
  ASSERT_TRUE(other.send_model(6, theirs));
  const Task task = one.next_task(7);
  ASSERT_TRUE(std::holds_alternative<Adoption>(task));
  ASSERT_TRUE(std::get<Adoption>(task).mean);
  EXPECT_EQ(one.held().size(), 2 * branch);

  Nanoseconds now = a_second;
  const auto is_ready = [&] { return network.last_record(other.link, {1, 1}).ready != Hash{}; };
  other.report_stopped(both, true, now);
  one.tick(now += a_second / 5);
  EXPECT_FALSE(is_ready());
  compute(one, branch, now);  // the correction
  one.tick(now += a_second / 5);
  EXPECT_FALSE(is_ready());  // the other does not have it
  both.insert({other.roster.number({1, 1}), branch});
  other.report_stopped(both, true, now);
  one.tick(now += a_second / 5);
  EXPECT_TRUE(is_ready());
  EXPECT_FALSE(one.is_over());  // before the other has said so
}

}  // namespace
}  // namespace dasgd::elastic::test
