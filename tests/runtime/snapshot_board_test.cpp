#include "dasgd/runtime/boards/snapshot_board.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace dasgd {
namespace {

using std::chrono_literals::operator""ms;
constexpr std::chrono::milliseconds long_enough = std::chrono::hours(1);

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

CarryOver carry_over(int value) { return {.rule = bytes({value}), .objective = {}}; }

class SnapshotBoardTest : public ::testing::Test {
 protected:
  void give_replica(int value) {
    GradientSet applied(2);
    applied.insert({worker_id(0), 0});
    board.give_replica(bytes({value}), applied, 32);
  }
  std::optional<ReplicaSnapshot> wait(std::chrono::milliseconds grace = 0ms) {
    return board.wait(std::stop_source().get_token(), grace);
  }
  SnapshotBoard board{2};
};

TEST_F(SnapshotBoardTest, NobodyIsAskedUntilSomebodyAsks) {
  EXPECT_FALSE(board.wanted(worker_id(0)));
  EXPECT_FALSE(board.claim_replica());
  EXPECT_EQ(board.carry_overs(), std::vector<CarryOver>(2));
}

TEST_F(SnapshotBoardTest, TheFirstToAnswerGivesItsReplicaAndAllTheirMemories) {
  board.ask();
  EXPECT_TRUE(board.wanted(worker_id(0)) && board.wanted(worker_id(1)));
  EXPECT_TRUE(board.claim_replica());
  EXPECT_FALSE(board.claim_replica());
  give_replica(5);
  board.give_carry_over(worker_id(0), carry_over(1));
  EXPECT_FALSE(board.wanted(worker_id(0)));
  board.give_carry_over(worker_id(1), carry_over(2));
  const auto snapshot = wait(long_enough);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->sums, bytes({5}));
  EXPECT_EQ(snapshot->applied.size(), 1u);
  EXPECT_EQ(snapshot->samples, 32u);
  EXPECT_EQ(snapshot->carry_overs, (std::vector{carry_over(1), carry_over(2)}));
}

TEST_F(SnapshotBoardTest, ASlowWorkerHoldsNothingUpAndIsRepresentedByWhatItGaveLast) {
  board.ask();
  give_replica(5);
  board.give_carry_over(worker_id(0), carry_over(1));
  board.give_carry_over(worker_id(1), carry_over(2));
  ASSERT_TRUE(wait(long_enough));
  board.ask();
  give_replica(6);
  board.give_carry_over(worker_id(0), carry_over(3));
  const auto snapshot = wait();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->carry_overs, (std::vector{carry_over(3), carry_over(2)}));
  EXPECT_TRUE(board.wanted(worker_id(1))) << "it may still answer";
}

TEST_F(SnapshotBoardTest, WhatIsGivenUnaskedBelongsToTheNextSnapshot) {
  board.ask();
  give_replica(5);
  board.give_carry_over(worker_id(0), carry_over(1));
  board.give_carry_over(worker_id(1), carry_over(2));
  board.give_carry_over(worker_id(1), carry_over(9));  // worker 1 ends meanwhile
  EXPECT_EQ(wait(long_enough)->carry_overs, (std::vector{carry_over(1), carry_over(2)}));
  EXPECT_EQ(board.carry_overs(), (std::vector{carry_over(1), carry_over(9)}))
      << "the latest of each";
  board.ask();
  give_replica(6);
  EXPECT_EQ(wait()->carry_overs, (std::vector{carry_over(1), carry_over(9)}));
}

TEST_F(SnapshotBoardTest, AReplicaOfAnEarlierRequestDoesNotAnswerALaterOne) {
  board.ask();
  give_replica(5);
  board.ask();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(board.wait(stop.get_token(), 0ms));
}

TEST_F(SnapshotBoardTest, AStopEndsTheWait) {
  board.ask();
  std::stop_source stop;
  std::jthread waits([&] { EXPECT_FALSE(board.wait(stop.get_token(), long_enough)); });
  stop.request_stop();
}

TEST(SnapshotBoards, OfOtherProcessesAreAskedAndGetTheMemories) {
  int asked = 0;
  std::vector<std::pair<WorkerId, CarryOver>> sent;
  SnapshotBoard board(
      2, {.ask = [&] { ++asked; },
          .give_carry_over = [&](WorkerId w, const CarryOver& m) { sent.emplace_back(w, m); }});
  board.ask();
  board.give_carry_over(worker_id(1), carry_over(4));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(sent, (std::vector{std::pair(worker_id(1), carry_over(4))}));
  EXPECT_EQ(board.carry_overs(), std::vector<CarryOver>(2)) << "none is kept here";
}

}  // namespace
}  // namespace dasgd
