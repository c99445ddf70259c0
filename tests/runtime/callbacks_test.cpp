#include <gtest/gtest.h>
#include <stdexcept>

#include "dasgd/dasgd.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;

TEST(Train, StopsWithoutImprovement) {
  const auto result =
      train(Quadratic::random(1),
            {.workers = 2, .eta = 0.01, .max_time = 10min, .in_flight = 4, .report_every = 5ms},
            {stop_without_improvement<double>(0.2)});
  EXPECT_EQ(result.summary.stop_reason, StopReason::callback);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(StopWithoutImprovement, CountsFromTheBestLoss) {
  auto stop = stop_without_improvement<double>(2);
  const auto at = [&](double seconds, std::optional<double> loss) {
    Progress<double> progress;
    progress.seconds = seconds;
    progress.loss = loss;
    return stop(progress);
  };
  EXPECT_EQ(at(10, std::nullopt), Flow::go_on) << "nothing is known yet";
  EXPECT_EQ(at(11, 3), Flow::go_on);
  EXPECT_EQ(at(13, 4), Flow::go_on);
  EXPECT_EQ(at(13, 2), Flow::go_on) << "better";
  EXPECT_EQ(at(15, 2), Flow::go_on) << "as good is not better, but two seconds are not over";
  EXPECT_EQ(at(15.5, 2), Flow::stop);
}

TEST(Train, CallbacksSeeProgressAndAModelAndCanStop) {
  std::size_t calls = 0, models = 0;
  double last_seconds = 0;
  const auto result = train(Quadratic::random(1),
                            {.workers = 2, .eta = 1e-4, .max_time = 10min, .report_every = 2ms},
                            {[&](const Progress<double>& p) {
                              ++calls;
                              EXPECT_GT(p.seconds, last_seconds);
                              last_seconds = p.seconds;
                              models += p.model().size() == 10 ? 1 : 0;
                              return models >= 3 ? Flow::stop : Flow::go_on;
                            }});
  EXPECT_EQ(result.summary.stop_reason, StopReason::callback);
  EXPECT_GE(calls, 3u);
}

TEST(Train, ACallbackThatThrowsEndsTheRunCleanly) {
  EXPECT_THROW(train(Quadratic::random(1),
                     {.workers = 2, .eta = 1e-4, .max_time = 10min, .report_every = 2ms},
                     {[](const Progress<double>&) -> Flow { throw std::logic_error("mine"); }}),
               std::logic_error);
}

}  // namespace
}  // namespace dasgd
