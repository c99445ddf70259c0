#include "dasgd/cluster/value_board.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace dasgd {
namespace {

using Values = std::vector<std::optional<std::string>>;
constexpr std::chrono::milliseconds now(0);

TEST(ValueBoard, HasTheValuesOfARoundWhenAllHaveGivenTheirs) {
  ValueBoard board(3, 1);
  std::vector<std::optional<std::string>> sent;
  board.open([&](const std::optional<std::string>& value) { sent.push_back(value); });
  EXPECT_EQ(board.give("b"), 0u);
  board.hear(0, "a");
  EXPECT_FALSE(board.wait_for(0, now));
  board.hear(0, "A");
  board.hear(2, "c");
  EXPECT_EQ(board.wait_for(0, now), (Values{"a", "b", "c"}));
  EXPECT_EQ(board.give("B"), 1u);
  board.hear(2, "C");
  EXPECT_EQ(board.wait_for(1, now), (Values{"A", "B", "C"}));
  EXPECT_EQ(sent, (Values{"b", "B"}));
}

TEST(ValueBoard, WaitsForNobodyWhoGivesNoMore) {
  ValueBoard board(2, 0);
  board.hear(1, "b");
  board.hear(1, std::nullopt);
  board.give("a");
  EXPECT_EQ(board.wait_for(0, now), (Values{"a", "b"}));
  const std::size_t round = board.give("A");
  EXPECT_EQ(board.wait_for(round, now), (Values{"A", std::nullopt}));
  board.give({});
  EXPECT_EQ(board.give("too late"), 2u);
}

TEST(ValueBoard, WaitsNoLongerThanTheRunGoes) {
  ValueBoard board(2, 0);
  const std::size_t round = board.give("a");
  const std::jthread end([&] { board.close(); });
  EXPECT_EQ(board.wait_for(round, std::chrono::hours(1)), (Values{"a", std::nullopt}));
}

}  // namespace
}  // namespace dasgd
