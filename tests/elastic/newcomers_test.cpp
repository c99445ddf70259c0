// What a newcomer gets, and when.
#include <gtest/gtest.h>
#include <memory>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

TEST(Newcomers, GetAModelAndThenGradientsOneByOne) {
  Said network;
  Protocol sponsor(founder(), network);
  Peer newcomer(sponsor, LinkId{1}, {2, 2});
  compute(sponsor, 0, 1);
  newcomer.report(false, 2);
  sponsor.tick(a_second);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 0u);
  newcomer.say(Want{}, a_second);
  const Task task = sponsor.next_task(a_second);
  ASSERT_TRUE(std::holds_alternative<CopyModel>(task));
  sponsor.copied({std::get<CopyModel>(task).names, 0, std::make_shared<Bytes>(8 * dimension)},
                 a_second);
  sponsor.pump(a_second);
  EXPECT_EQ(network.count<Snapshot>(newcomer.link), 1u);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 0u);  // it is in the model
  compute(sponsor, 1, a_second);
  EXPECT_EQ(network.count<GradientMessage>(newcomer.link), 1u);
}

TEST(Newcomers, TakeTheFirstModelThatComesHoweverLate) {
  Said network;
  Protocol newcomer({.origin = {1, 1}, .facts = "same", .dimension = dimension}, network);
  Peer busy(newcomer, LinkId{1}, {2, 2}), other(newcomer, LinkId{2}, {3, 3});
  Nanoseconds now = 0;
  busy.report(true, now);
  EXPECT_EQ(network.count<Want>(busy.link), 1u);
  for (; now < 7 * a_second; now += a_second / 5) {
    busy.report(true, now);
    other.report(true, now);
    newcomer.tick(now);
  }
  EXPECT_EQ(network.count<Want>(other.link), 1u);  // the first was taken for unable
  ASSERT_TRUE(busy.send_model(now));
  EXPECT_TRUE(std::holds_alternative<Adoption>(newcomer.next_task(now)));
  EXPECT_TRUE(newcomer.has_joined());
  ASSERT_TRUE(other.send_model(now));  // no harm, and no use
  EXPECT_TRUE(std::holds_alternative<std::monostate>(newcomer.next_task(now)));
  EXPECT_FALSE(other.send_model(now));  // nobody has asked for it
  EXPECT_TRUE(network.closed.empty());  // which is for the caller to see to
}

TEST(Newcomers, EndWithTheOthersWhoseLastModelTheyAreAboutToTake) {
  Said network;
  Protocol newcomer({.origin = {1, 1}, .facts = "same", .dimension = dimension}, network);
  Peer other(newcomer, LinkId{1}, {2, 2});
  other.report(true, 1);
  GradientSet last;
  last.insert({other.roster.number({2, 2}), 0});
  ASSERT_TRUE(other.send_model(2, last));
  other.say(Goodbye{true, other.roster.hash(last), {5, 6}}, 3);
  ASSERT_TRUE(std::holds_alternative<Adoption>(newcomer.next_task(4)));
  newcomer.stop_run(StopReason::asked, 5);
  newcomer.stopped(5);
  newcomer.tick(a_second);
  EXPECT_TRUE(newcomer.is_over());
  EXPECT_TRUE(newcomer.audit().agreed);
}

}  // namespace
}  // namespace dasgd::elastic::test
