#include "dasgd/cluster/messages.hpp"

#include <gtest/gtest.h>

namespace dasgd::cluster {
namespace {

Message everything_of_a_rank() {
  WorkerReport worker;
  worker.computed = 7;
  worker.applied.insert({WorkerId{0}, 0});
  worker.applied.insert({WorkerId{1}, 5});
  worker.digest = "xxh3-128:1";
  worker.S.add(3);
  worker.W = 11;
  worker.time = 99;
  return RankReport{{worker, WorkerReport{}}, StopReason::target, "out of luck"};
}

std::vector<Message> messages() {
  WorkerView view;
  view.worker = WorkerId{4};
  view.announced_total = 12;
  return {
      Stop{StopReason::max_time},
      TargetReached{},
      Views{{view, view}},
      TracePart{WorkerId{2}, 50, {TraceLine{WorkerId{2}, 1, {WorkerId{3}, 4}, 5, 6, 7, 8, {}}}, 9},
      everything_of_a_rank(),
      StateRequest{},
      StatePart{WorkerId{3}, Bytes(5), true},
      EarlyLoss{2.5},
      TraceAck{5},
      GivenValue{"0.9"}};
}

TEST(ClusterMessages, ComeBackAsTheyWere) {
  const auto report = std::get<RankReport>(*decode(encode(everything_of_a_rank())));
  ASSERT_EQ(report.workers.size(), 2u);
  const auto& worker = report.workers[0];
  EXPECT_EQ(worker.computed, 7u);
  EXPECT_EQ(worker.applied.size(), 2u);
  EXPECT_TRUE(worker.applied.contains({WorkerId{1}, 5}));
  EXPECT_EQ(worker.digest, "xxh3-128:1");
  EXPECT_EQ(worker.S.max, 3u);
  EXPECT_EQ(worker.W, 11u);
  EXPECT_EQ(worker.time, 99);
  EXPECT_EQ(report.stop_reason, StopReason::target);
  EXPECT_EQ(report.failure, "out of luck");

  EXPECT_EQ(std::get<Stop>(*decode(encode(Stop{StopReason::max_time}))).reason,
            StopReason::max_time);
  const auto piece = std::get<TracePart>(*decode(encode(messages()[3])));
  ASSERT_EQ(piece.lines.size(), 1u);
  EXPECT_EQ(piece.lines[0].start, 7);
  EXPECT_EQ(piece.left_out, 9u);
  EXPECT_EQ(piece.lines[0].S_hat, std::nullopt);
  EXPECT_EQ(std::get<TraceAck>(*decode(encode(TraceAck{5}))).lines, 5u);
  EXPECT_EQ(std::get<EarlyLoss>(*decode(encode(EarlyLoss{2.5}))).size, 2.5);
  EXPECT_EQ(std::get<GivenValue>(*decode(encode(GivenValue{"0.9"}))).value, "0.9");
  EXPECT_FALSE(std::get<GivenValue>(*decode(encode(GivenValue{}))).value);
  const auto rule = std::get<StatePart>(*decode(encode(messages()[6])));
  EXPECT_EQ(rule.worker, WorkerId{3});
  EXPECT_EQ(rule.bytes.size(), 5u);
  EXPECT_TRUE(rule.last);
  EXPECT_EQ(std::get<Views>(*decode(encode(messages()[2]))).workers[1].announced_total, 12u);
}

TEST(ClusterMessages, AReasonOrAFlagThatIsNoneIsRefused) {
  Bytes stop = encode(Stop{StopReason::failed});
  ASSERT_TRUE(decode(stop));
  stop[1] = std::byte{200};
  EXPECT_FALSE(decode(stop));
  Bytes memory = encode(StatePart{WorkerId{3}, Bytes(5), true});
  memory.back() = std::byte{2};
  EXPECT_FALSE(decode(memory));
  Bytes report = encode(RankReport{{}, StopReason::failed, {}});
  ASSERT_TRUE(decode(report));
  constexpr std::size_t given = 1 + 8, reason = given + 1;  // behind the kind and no workers
  for (const std::size_t at : {given, reason}) {
    Bytes wrong = report;
    wrong[at] = std::byte{77};
    EXPECT_FALSE(decode(wrong)) << at;
  }
}

TEST(ClusterMessages, AreRefusedUnlessWhole) {
  for (const Message& message : messages()) {
    Bytes bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(decode(std::span(bytes).first(length))) << message.index() << " " << length;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode(bytes)) << message.index();
  }
  EXPECT_FALSE(decode(Bytes{std::byte{77}}));
}

}  // namespace
}  // namespace dasgd::cluster
