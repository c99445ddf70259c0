// What is minimised does not depend on who is slow.
#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

double final_loss(double slow, std::uint64_t seed, Sampling sampling) {
  TrainOptions options{.workers = 2, .eta = 0.01, .batch = 10, .sampling = sampling};
  options.max_time = std::chrono::seconds(40);
  options.slow = {{WorkerId{1}, slow}};
  options.seed = seed;
  const VirtualWorld world{.compute = TimeModel::constant(1'000'000),
                           .latency = TimeModel::constant(10'000)};
  return simulate(Logistic::random(seed), options, world).summary.loss;
}

TEST(SamplingFromOneDistribution, ASlowWorkerChangesNothingAboutWhatIsMinimised) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const double equal = final_loss(1, seed, Sampling::own);
    for (const double slow : {10.0, 100.0})
      EXPECT_NEAR(final_loss(slow, seed, Sampling::own), equal, 0.02 * equal)
          << "seed " << seed << ", slow " << slow;
  }
}

TEST(SamplingFromOneDistribution, ShardsDoMinimiseSomethingElse) {
  EXPECT_GT(final_loss(100, 1, Sampling::shards), 1.1 * final_loss(1, 1, Sampling::shards));
}

TEST(SamplingFromOneDistribution, EpochsEndWhenTheSamplesOfAllTogetherAreUsed) {
  for (const double slow : {1.0, 10.0, 1000.0}) {
    TrainOptions options{.workers = 4, .eta = 0.01, .batch = 10, .epochs = 30};
    options.slow = {{WorkerId{2}, slow}};
    const auto result = simulate(
        Logistic::random(1), options,
        {.compute = TimeModel::constant(1'000'000), .latency = TimeModel::constant(10'000)});
    EXPECT_EQ(result.summary.samples, 3000u);
    EXPECT_EQ(result.summary.gradients, 300u);
    const double n = 4, fair = 300 / (n - 1 + 1 / slow) * 1e-3;
    const double one_more = slow * 1e-3;  // what is under way is finished
    EXPECT_LE(*result.summary.virtual_seconds, 1.1 * fair + one_more);
  }
}

/// Says that there is nothing now until it has been asked a few times, then gives, then ends.
class Hesitant final : public SampleSource {
 public:
  explicit Hesitant(std::uint32_t batches) : left_(batches) {}
  Draw next() override {
    if (left_ == 0) return Draw::no_more();
    if (++asked_ % 3 != 0) return Draw::none_now();
    --left_;
    return Draw::batch(row_);
  }

 private:
  std::uint32_t left_, asked_ = 0;
  const std::vector<std::uint32_t> row_{0};
};

TEST(OwnSources, AWorkerWithoutASampleGoesOnApplying) {
  TrainOptions options{.workers = 2, .eta = 0.01};
  options.make_samples = [](WorkerId worker, std::uint64_t) {
    return std::make_unique<Hesitant>(worker == WorkerId{0} ? 0 : 1000);
  };
  const auto silent = simulate(Logistic::random(1), options, {});
  EXPECT_EQ(silent.summary.gradients, 0u)
      << "nothing else happens, so the source is not asked again";
  EXPECT_TRUE(silent.summary.audit_is_clean());
}

}  // namespace
}  // namespace dasgd
