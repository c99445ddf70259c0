#include "dasgd/base/parallel.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace dasgd {
namespace {

/// What runs at a time.
class Load {
 public:
  void begin(std::size_t size) {
    const std::lock_guard lock(mutex_);
    now_ += size;
    ++pieces_;
    most_ = std::max(most_, now_);
    if (pieces_ > 1) largest_together_ = std::max(largest_together_, now_);
  }
  void end(std::size_t size) {
    const std::lock_guard lock(mutex_);
    now_ -= size;
    --pieces_;
  }
  std::size_t most() const { return most_; }
  std::size_t largest_together() const { return largest_together_; }

 private:
  std::mutex mutex_;
  std::size_t now_ = 0, pieces_ = 0, most_ = 0, largest_together_ = 0;
};

TEST(InParallelWithin, PiecesThatRunTogetherFitIntoTheRoomAndAllRun) {
  const std::vector<std::size_t> sizes{1, 1, 2, 5, 2, 10, 4, 1, 12, 3};
  std::vector<std::atomic<int>> calls(sizes.size());
  Load load;
  in_parallel_within(10, sizes, [&](std::size_t k) {
    load.begin(sizes[k]);
    std::this_thread::yield();
    ++calls[k];
    load.end(sizes[k]);
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_EQ(load.most(), 12u) << "a piece larger than the room runs, but alone";
  EXPECT_LE(load.largest_together(), 10u);
}

TEST(InParallelWithin, TwoPiecesThatFitRunSideBySide) {
  std::atomic<int> here{0};
  in_parallel_within(2, {1, 1}, [&](std::size_t) {
    ++here;
    while (here < 2) std::this_thread::yield();  // ends only if the other one runs, too
  });
  EXPECT_EQ(here, 2);
}

TEST(InParallelWithin, WithRoomForOnePiecesRunInTheirOrder) {
  std::vector<std::size_t> order;
  in_parallel_within(1, {3, 1, 2, 1}, [&](std::size_t k) { order.push_back(k); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(InParallelWithin, AfterAFailureNoPieceBegins) {
  std::atomic<int> calls{0};
  const auto fail = [&](std::size_t) {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(in_parallel_within(1, {1, 1, 1}, fail), std::runtime_error);
  EXPECT_EQ(calls, 1);
  in_parallel_within(1, {}, fail);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace dasgd
