#include "dasgd/base/fifo.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <random>

namespace dasgd {
namespace {

TEST(Fifo, IsAQueue) {
  std::mt19937 random(1);
  Fifo<int> fifo;
  std::deque<int> queue;
  for (int n = 0; n < 10'000; ++n) {
    if (random() % (n < 5'000 ? 3 : 2) > 0) {
      fifo.push_back(n);
      queue.push_back(n);
    }
    ASSERT_EQ(fifo.size(), queue.size());
    ASSERT_EQ(fifo.empty(), queue.empty());
    if (queue.empty()) continue;
    ASSERT_EQ(fifo.back(), queue.back());
    if (random() % 2 > 0) continue;
    ASSERT_EQ(fifo.front(), queue.front());
    ASSERT_EQ(fifo.pop_front(), queue.front());
    queue.pop_front();
    ASSERT_EQ(std::deque<int>(fifo.begin(), fifo.end()), queue);
  }
}

}  // namespace
}  // namespace dasgd
