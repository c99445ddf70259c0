// A member whose network's thread fails.
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "members/small_run.hpp"

namespace dasgd::test {
namespace {

TEST(AMemberWhoseThreadFails, EndsWithAllItHas) {
  const SmallRun run;
  members::MemberOptions of_first = run.options("a");
  of_first.say = [](const std::string& line) {
    if (line.find("b left") != line.npos) throw std::runtime_error("no room for a line");
  };
  const auto a = run.member(of_first);
  TrainResult<double> of_a, of_b;
  {
    const std::jthread first([&] { of_a = run.train(*a); });
    while (a->protocol().held().size() < 20)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto b = run.member(run.options("b", {a->address()}));
    const std::jthread leaves([&] {
      while (b->protocol().held().size() < 100)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      b->protocol().leave(b->now());
    });
    of_b = run.train(*b);
  }
  EXPECT_EQ(of_b.failure, nullptr);
  EXPECT_FALSE(of_b.summary.replicas_compared);  // it was not there at the end
  EXPECT_EQ(why(of_a.failure), "no room for a line");
  EXPECT_GE(of_a.summary.gradients, 20u);
  EXPECT_EQ(of_a.summary.stop_reason, StopReason::failed);
  EXPECT_FALSE(of_a.summary.replicas_identical);
}

}  // namespace
}  // namespace dasgd::test
