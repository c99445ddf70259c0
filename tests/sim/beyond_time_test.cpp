#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/message.hpp"

namespace dasgd {
namespace {

using ::testing::StartsWith;
using std::chrono_literals::operator""h;

constexpr Nanoseconds hour = std::chrono::nanoseconds(1h).count();
constexpr Nanoseconds most = std::numeric_limits<Nanoseconds>::max();

TEST(CheckedTime, GoesExactlyAsFarAsItsClock) {
  EXPECT_EQ(later(most - 5, 5, "x"), most);
  EXPECT_THAT(test::message_of<InputError>([] { later(most - 5, 6, "apply"); }),
              StartsWith("apply: takes the run beyond 292 years"));
  EXPECT_EQ(duration(1.5e9, "x"), 1'500'000'000);
  for (const double never : {1e19, 9.3e18, double(INFINITY), double(NAN)})
    EXPECT_THROW(duration(never, "x"), InputError) << never;
}

void expect_beyond(const char* what, const VirtualWorld& world, std::vector<SlowWorker> slow = {}) {
  TrainOptions options{.workers = 3, .topology = "directed-ring", .eta = 1e-4, .gradients = {200}};
  options.slow = std::move(slow);
  EXPECT_THAT(test::message_of<InputError>([&] { simulate(Quadratic::random(1), options, world); }),
              StartsWith(std::string(what) + ": takes the run beyond 292 years"));
}

TEST(BeyondTime, WhatTakesTooLongIsRefusedByName) {
  expect_beyond("compute", {.compute = TimeModel::constant(130'000 * hour)});
  expect_beyond("compute", {.compute = TimeModel::lognormal(50'000'000, 20)});
  expect_beyond("compute", {.compute = TimeModel::uniform(0, most)});
  expect_beyond("slow", {.compute = TimeModel::constant(hour)}, {{worker_id(1), 1e6}});
  expect_beyond("slow", {}, {{worker_id(1), 1e300}});
  expect_beyond("bandwidth", {.bandwidth = 1e-10});
  expect_beyond("latency", {.latency = TimeModel::constant(most)});
  expect_beyond("latency", {.latency = TimeModel::exponential(most / 2)});
  expect_beyond("apply", {.apply = most});
  expect_beyond("apply", {.apply = most / 5});  // of those that wait, some can be applied
  expect_beyond("delay", {.chaos = {.delay = 0.9, .delay_up_to = most}});
  expect_beyond("drop", {.chaos = {.drop = 0.9, .resend_after = most / 2}});
  expect_beyond("pause", {.chaos = {.pauses = {{worker_id(0), most, 1}}}});
  expect_beyond("partition",
                {.chaos = {.partitions = {{{worker_id(0)}, {worker_id(1)}, 1, most}}}});
  expect_beyond("apply", {.start = {most, 0, 0}});
}

}  // namespace
}  // namespace dasgd
