#include "dasgd/record/trace/trace_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "support/process.hpp"

namespace dasgd {
namespace {

using std::chrono_literals::operator""ms;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<TraceLine> at(std::initializer_list<Nanoseconds> times, std::size_t worker = 0) {
  std::vector<TraceLine> lines;
  for (const Nanoseconds time : times)
    lines.push_back({.worker = worker_id(worker), .name = {worker_id(worker), 0}, .time = time});
  return lines;
}

std::vector<Nanoseconds> times(const std::vector<TraceLine>& lines) {
  std::vector<Nanoseconds> result;
  for (const TraceLine& line : lines) result.push_back(*line.time);
  return result;
}

TEST(TraceQueue, ALineIsTakenWhenNobodyCanHandInAnEarlierOne) {
  TraceQueue queue(2, 100);
  queue.add(worker_id(0), at({10, 30, 50}), 60);
  EXPECT_THAT(times(queue.take(100)), IsEmpty()) << "worker 1 has said nothing";
  queue.add(worker_id(1), at({20}, 1), 40);
  EXPECT_THAT(times(queue.take(100)), ElementsAre(10, 20, 30));
  queue.add(worker_id(1), {}, 51);
  EXPECT_THAT(times(queue.take(100)), ElementsAre(50));
}

TEST(TraceQueue, WhatIsLeftIsReadyAtTheEnd) {
  TraceQueue queue(2, 100);
  queue.add(worker_id(0), at({10, 30}), 60);
  queue.finish();
  ASSERT_TRUE(queue.wait(0ms));
  EXPECT_THAT(times(queue.take(1)), ElementsAre(10)) << "a piece at a time";
  ASSERT_TRUE(queue.wait(0ms));
  EXPECT_THAT(times(queue.take(1)), ElementsAre(30));
  EXPECT_FALSE(queue.wait(0ms));
}

TEST(TraceQueue, ADiskThatIsHeldBackHoldsBackTheWorkerAndMemoryStaysBounded) {
  constexpr std::size_t most = 64, piece = 16, pieces = 1000;
  TraceQueue queue(1, most);
  std::atomic<std::size_t> added{0};
  std::jthread worker([&] {
    for (std::size_t k = 0; k < pieces; ++k, ++added)
      queue.add(worker_id(0), std::vector<TraceLine>(piece, at({1}).front()), 2);
  });
  // Nothing is taken, so all that will be added is here.
  ASSERT_TRUE(test::eventually([&] { return queue.waiting() == most; }));
  EXPECT_LE(added, most / piece);
  std::size_t taken = 0;
  while (taken < piece * pieces) {
    EXPECT_LT(queue.waiting(), most + piece);
    taken += queue.take(10).size();
  }
  worker.join();
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(TraceQueue, NobodyWaitsForAWorkerThatKeepsSilent) {
  TraceQueue queue(2, 8);
  for (Nanoseconds t = 0; t < 8; ++t) queue.add(worker_id(0), at({10 * t}), 10 * t + 1);
  EXPECT_THAT(times(queue.take(100)), ElementsAre(0, 10, 20, 30)) << "the oldest half";
  EXPECT_THAT(times(queue.take(100)), IsEmpty()) << "the rest may still come in order";
  queue.add(worker_id(1), at({5, 45}, 1), 46);
  EXPECT_THAT(times(queue.take(100)), ElementsAre(5, 40, 45));
}

TEST(TraceQueue, WhoWaitsGoesOnWhenNobodyTakesAnyMore) {
  TraceQueue queue(1, 1);
  queue.add(worker_id(0), at({1}), 2);
  std::jthread worker([&] { queue.add(worker_id(0), at({2}), 3); });
  queue.close();
  worker.join();
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_FALSE(queue.wait(0ms));
}

}  // namespace
}  // namespace dasgd
