// Workers that are behind, on threads: nobody waits for them, and nothing is lost.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>

#include "dasgd/dasgd.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "support/effort.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;

TEST(Folding, RandomScenariosOnThreadsKeepEveryPromise) {
  const test::TemporaryDirectory directory;
  const std::vector<std::string> shapes{"full", "ring",        "directed-ring",
                                        "star", "exponential", "torus:2x2"};
  for (std::uint32_t number = 0; number < 200; number += test::sampled_one_in) {
    Random random(12, Purpose::scenario, number);
    TrainOptions options;
    options.workers = 4;
    options.topology = shapes[random.below(6)];
    if (options.topology != "full" || random.below(2))
      options.relay = random.below(2) ? RelayMode::arrival : RelayMode::apply;
    options.eta = 1e-3;
    options.in_flight = 1 + random.below(3);
    options.total_gradients = 200;
    options.slow = {{worker_id(random.below(4)), 1.0 + random.below(200)}};
    options.chaos.pauses = {{worker_id(random.below(4)), random.below(300'000), 2'000'000}};
    if (random.below(2)) {
      options.chaos.delay = options.chaos.duplicate = options.chaos.reorder = 0.1;
      options.chaos.delay_up_to = 300'000;
    }
    options.seed = number;
    TraceWriter trace(directory.file("t"), 4);
    options.trace = &trace;
    const auto result = train(Quadratic::random(1), options);
    trace.finish();
    ASSERT_TRUE(result.summary.audit_is_clean()) << number;
    ASSERT_EQ(result.summary.gradients, 200u) << number;
    ASSERT_THAT(result.summary.iterations, Each(200u)) << number;
    const TraceCheck check = check_trace(read_trace(directory.file("t")).applications);
    ASSERT_TRUE(check.ok()) << number << ": " << check.violations.front().what;
    ASSERT_DOUBLE_EQ(check.staleness.S_avg, result.summary.staleness.S_avg) << number;
    ASSERT_DOUBLE_EQ(check.staleness.S_hat_avg, result.summary.staleness.S_hat_avg) << number;
  }
}

/// A worker whose first gradient takes until the others have made all of theirs.
class HeldUp final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double>) const override { return 0; }
  std::unique_ptr<Oracle<double>> make_oracle(WorkerId worker) const override {
    return std::make_unique<Own>(worker == WorkerId{2}, others_);
  }

 private:
  struct Own final : Oracle<double> {
    Own(bool slow, std::latch& latch) : is_slow(slow), others(latch) {}
    double gradient(ComputePoint<double>&, const Batch&, std::span<double> g) override {
      g[0] = 1;
      is_slow ? others.wait() : others.count_down();
      return 0;
    }
    const bool is_slow;
    std::latch& others;
  };
  mutable std::latch others_{2000};
};

// Were anybody to wait for room, this would never end: 2,000 gradients and 8 buffers.
TEST(Folding, TheOthersGoOnHoweverLongAGradientTakes) {
  TrainOptions options{.workers = 3, .eta = 1e-6, .gradients = {1000, 1000, 1}};
  options.in_flight = 4;
  const auto result = train(HeldUp(), options);
  EXPECT_EQ(result.summary.gradients, 2001u);
  EXPECT_GT(result.summary.folded, 1'000u);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

/// A source that the test feeds.
class Fed final : public SampleSource {
 public:
  struct Tap {
    std::mutex mutex;
    int left = 0;
    bool ended = false;
    std::function<void()> wake;
    void feed(int count, bool end) {
      std::function<void()> call;
      {
        const std::lock_guard lock(mutex);
        left += count;
        ended = end;
        call = wake;
      }
      if (call) call();
    }
  };
  explicit Fed(Tap& tap) : tap_(tap) {}
  Draw next() override {
    const std::lock_guard lock(tap_.mutex);
    if (tap_.left == 0) return tap_.ended ? Draw::no_more() : Draw::none_now();
    --tap_.left;
    return Draw::batch(row_);
  }
  void on_arrival(std::function<void()> wake) override {
    const std::lock_guard lock(tap_.mutex);
    tap_.wake = std::move(wake);
  }

 private:
  Tap& tap_;
  const std::vector<std::uint32_t> row_{0};
};

TEST(OwnSources, NobodyWaitsForAWorkerWhoseSourceIsDry) {
  Fed::Tap flowing, dry;
  flowing.feed(300, true);
  TrainOptions options{.workers = 2, .eta = 0.01};
  options.make_samples = [&](WorkerId worker, std::uint64_t) -> std::unique_ptr<SampleSource> {
    return std::make_unique<Fed>(worker == WorkerId{0} ? flowing : dry);
  };
  options.report_every = 2ms;
  // The dry one gets its samples only when the other has made all of its own.
  bool fed = false;
  const Callback<double> feed = [&](const Progress<double>& progress) {
    if (progress.gradients >= 300 && !std::exchange(fed, true)) dry.feed(5, true);
    return Flow::go_on;
  };
  const auto result = train(Quadratic::random(1), options, {feed});
  EXPECT_THAT(result.summary.gradients_by_worker, ::testing::ElementsAre(300, 5));
  EXPECT_EQ(result.summary.stop_reason, StopReason::samples);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

// Were the last claim not noticed by those who ask in vain, this would never end.
TEST(OwnSources, ABudgetThatIsUsedUpEndsARunWhoseSourcesAreDry) {
  Fed::Tap tap;
  tap.feed(20, false);
  TrainOptions options{.workers = 2, .eta = 0.01, .total_gradients = 20};
  options.make_samples = [&](WorkerId, std::uint64_t) { return std::make_unique<Fed>(tap); };
  const auto result = train(Quadratic::random(1), options);
  EXPECT_EQ(result.summary.gradients, 20u);
  EXPECT_EQ(result.summary.stop_reason, StopReason::budget);
  EXPECT_THAT(result.summary.waited_seconds, Each(0.0));
}

TEST(OwnSources, ADroughtIsReportedOnceAndIsNoStall) {
  Fed::Tap tap;
  TrainOptions options{.workers = 2, .eta = 0.01};
  options.make_samples = [&](WorkerId, std::uint64_t) { return std::make_unique<Fed>(tap); };
  options.report_every = 1ms;
  options.stall_after = 2ms;
  std::vector<std::string> lines;
  options.warn = [&](const std::string& line) { lines.push_back(line); };
  const auto is_of_drought = [](const std::string& line) {
    return line.starts_with("no sample for ");
  };
  int reports = 0;
  const Callback<double> end = [&](const Progress<double>&) {
    const bool reported = std::any_of(lines.begin(), lines.end(), is_of_drought);
    return reported && ++reports >= 20 ? Flow::stop : Flow::go_on;
  };
  const auto result = train(Quadratic::random(1), options, {end});
  EXPECT_EQ(result.summary.gradients, 0u);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_of_drought), 1);
  EXPECT_THAT(result.summary.waited_seconds, Each(0.0));
}

}  // namespace
}  // namespace dasgd
