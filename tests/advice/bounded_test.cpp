// What advice may cost, in samples whose gradients are computed, by a clock
// that they move.
#include <atomic>
#include <gtest/gtest.h>

#include "dasgd/advice/advise.hpp"
#include "dasgd/run/point_sample.hpp"

namespace dasgd {
namespace {

/// Means of parabolas with different centres, whose L nobody knows. A sample
/// takes so many seconds.
class Costly final : public Objective<double> {
 public:
  explicit Costly(double seconds_per_sample) : cost_(seconds_per_sample) {}
  std::size_t dimension() const override { return 4; }
  std::size_t samples() const override { return 600; }
  std::vector<double> start() const override { return std::vector<double>(4, 5.0); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    computed += rows.size();
    if (stops && ++calls > 3) stops->request_stop();
    std::fill(g.begin(), g.end(), 0.0);
    double loss = 0;
    for (const std::uint32_t row : rows)
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = x[i] - 0.001 * static_cast<double>((row + i) % 600);
        g[i] += off / static_cast<double>(rows.size());
        loss += off * off / 2 / static_cast<double>(rows.size());
      }
    return loss;
  }
  double seconds() const { return cost_ * static_cast<double>(computed.load()); }
  Clock clock() const {
    return [this] { return seconds(); };
  }

  mutable std::atomic<std::size_t> computed{0};
  std::stop_source* stops = nullptr;
  mutable std::atomic<int> calls{0};

 private:
  const double cost_;
};

TrainOptions short_run() {
  TrainOptions options{.workers = 2};
  options.batch = 32;
  options.total_gradients = 400;
  return options;
}

TEST(BoundedAdvice, OfSlowGradientsTakesTenSecondsAtMost) {
  for (const double cost : {0.04, 0.06, 0.08, 0.15, 0.3}) {
    const Costly slow(cost);
    const Advice advice = advise<double>(slow, {.options = short_run(), .clock = slow.clock()});
    EXPECT_LE(slow.seconds(), 10) << cost;
    EXPECT_GT(advice.practical.eta, 0) << cost;
    EXPECT_NEAR(advice.constants.L.value, 1, 0.01) << cost;
    EXPECT_NE(advice.constants.L.how.find("as gradients take long here"), std::string::npos);
    EXPECT_NE(advice.staleness.how.find("predicted"), std::string::npos) << "no pilot runs";
  }
}

TEST(BoundedAdvice, TrialsEndWithinTheirSecondsAndBeginNearOneOverL) {
  for (const double cost : {1e-4, 1e-3, 4e-3}) {
    const Costly slow(cost);
    const TrainOptions options = short_run();
    const auto found = try_steps<double>(slow, options, VirtualWorld{}, 1, 0.001, 400, false,
                                         {.seconds = 5, .clock = slow.clock()});
    ASSERT_TRUE(found) << cost;
    EXPECT_GE(found->tried.size(), 1u) << cost;
    EXPECT_EQ(found->tried.front().eta, 1) << cost;
    EXPECT_LE(slow.seconds(), 5 + 1) << cost << ": time of one gradient and of one judgement";
  }
}

TEST(BoundedAdvice, LIsMeasuredWithinItsEffort) {
  const Costly f(1);
  const std::vector<std::vector<double>> points{f.start()};
  const Smoothness cut = measure_smoothness<double>(
      f, points, 1, nullptr, {.most_rows = 4, .is_over = [&] { return f.computed > 16; }});
  EXPECT_LE(f.computed, 24u);
  EXPECT_NEAR(cut.value, 1, 0.01);
}

TEST(BoundedAdvice, TheVarianceOfALargeBatchIsThatOfSmallOnesByTheirSizes) {
  const Costly f(1);
  const std::vector<std::vector<double>> points{f.start()};
  const auto variance = [&](std::size_t most_rows) {
    const std::size_t before = f.computed;
    const double found = measure_constants<double>(
                             f, points, {.batch = 64, .L = Smoothness{}, .effort = {most_rows}})
                             .sigma2.value;
    EXPECT_LE(f.computed - before, PointSample::batches * most_rows);
    return found;
  };
  const double exact = variance(64);
  EXPECT_GT(exact, 0);
  EXPECT_NEAR(variance(4), exact, 0.7 * exact);
}

TEST(BoundedAdvice, AStopIsSeenWhileLIsMeasured) {
  Costly f(1e-6);
  std::stop_source stop;
  f.stops = &stop;
  AdviceRequest request{.options = short_run(), .clock = f.clock()};
  request.options.stop = stop.get_token();
  advise<double>(f, request);
  EXPECT_LE(f.calls, 20) << "some to measure how long one takes, and a round of L";
}

}  // namespace
}  // namespace dasgd
