#include "dasgd/runtime/boards/model_board.hpp"

#include <gtest/gtest.h>
#include <stop_token>
#include <thread>
#include <vector>

namespace dasgd {
namespace {

TEST(ModelBoard, IsAskedBeforeAnythingIsCopied) {
  ModelBoard<float> board;
  EXPECT_FALSE(board.wanted());
  EXPECT_FALSE(board.latest());
  board.ask();
  EXPECT_TRUE(board.wanted());
  board.give(std::vector<float>{1, 2});
  EXPECT_FALSE(board.wanted());
  EXPECT_EQ(*board.latest(), (std::vector<float>{1, 2}));
}

TEST(ModelBoard, AReaderKeepsItsModelWhileTheWorkerGivesMore) {
  ModelBoard<float> board;
  board.give(std::vector<float>{1});
  const auto first = board.latest();
  for (float k = 2; k < 10; ++k) board.give(std::vector<float>{k});
  EXPECT_EQ(first->front(), 1);
  EXPECT_EQ(board.latest()->front(), 9);
}

TEST(ModelBoard, UsesABufferAgainWhenNobodyReadsIt) {
  ModelBoard<float> board;
  board.give(std::vector<float>{1});
  const float* first = board.latest()->data();
  board.give(std::vector<float>{2});
  board.give(std::vector<float>{3});
  EXPECT_EQ(board.latest()->data(), first);
}

TEST(ModelBoard, WaitsForAModelThatIsNewerThanTheQuestion) {
  ModelBoard<float> board;
  board.give(std::vector<float>{1});
  std::jthread worker([&](std::stop_token stop) {
    for (float k = 2; !stop.stop_requested();)
      if (board.wanted()) board.give(std::vector<float>{k++});
  });
  EXPECT_EQ(board.wait({})->front(), 2);
  EXPECT_EQ(board.wait({})->front(), 3);
  std::stop_source stopped;
  stopped.request_stop();
  worker = {};
  EXPECT_FALSE(board.wait(stopped.get_token()));
}

}  // namespace
}  // namespace dasgd
