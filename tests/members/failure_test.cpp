// A member whose network's thread fails.
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "dasgd/members/train_member.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd::members {
namespace {

TEST(AMemberWhoseThreadFails, EndsWithAllItHas) {
  const Quadratic objective = Quadratic::random(7, 4);
  const TrainOptions run{.workers = 1,
                         .eta = 0.001,
                         .total_gradients = 1'000'000'000,
                         .compute = std::chrono::milliseconds(1)};
  MemberOptions options;
  options.listen = "127.0.0.1:0";
  options.plaintext = true;
  options.name = "a";
  options.say = [](const std::string& line) {
    if (line.find("b has left") != line.npos) throw std::runtime_error("no room for a line");
  };
  const auto a = become_member<double>(objective, run, options);
  options.name = "b";
  options.contacts = {a->address()};
  options.say = [](const std::string&) {};
  TrainResult<double> of_a, of_b;
  {
    const std::jthread first([&] { of_a = train_member<double>(objective, run, *a); });
    while (a->protocol().held().size() < 20)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto b = become_member<double>(objective, run, options);
    const std::jthread leaves([&] {
      while (b->protocol().held().size() < 100)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      b->protocol().leave(b->now());
    });
    of_b = train_member<double>(objective, run, *b);
  }
  EXPECT_EQ(of_b.failure, nullptr);
  EXPECT_FALSE(of_b.summary.replicas_compared);  // it was not there at the end
  ASSERT_NE(of_a.failure, nullptr);
  try {
    std::rethrow_exception(of_a.failure);
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "no room for a line");
  }
  EXPECT_GE(of_a.summary.gradients, 20u);
  EXPECT_EQ(of_a.summary.stop_reason, StopReason::failed);
  EXPECT_FALSE(of_a.summary.replicas_identical);
}

}  // namespace
}  // namespace dasgd::members
