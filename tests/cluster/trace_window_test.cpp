#include "dasgd/cluster/trace_window.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace dasgd::cluster {
namespace {

TEST(TraceWindow, WorkersWaitForTheDiskOfRankZero) {
  TraceWindow window;
  window.send(TraceWindow::most - 1);
  window.send(1);  // there was room for one
  std::atomic<bool> sent{false};
  std::jthread worker([&] {
    window.send(1);
    sent = true;
  });
  EXPECT_FALSE(sent);
  window.taken(10);
  worker.join();
  EXPECT_TRUE(sent);
}

TEST(TraceWindow, NobodyWaitsInARunThatEnds) {
  TraceWindow window;
  window.send(2 * TraceWindow::most);
  std::jthread worker([&] { window.send(1); });
  window.open();
  worker.join();
  window.send(1);
}

}  // namespace
}  // namespace dasgd::cluster
