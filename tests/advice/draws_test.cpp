// The bounds with noise are for independent draws: batches of one pass break them.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "dasgd/advice/advise.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

/// f = u^2 / 2 + 100, and coordinates v_i on which f does not depend: sample i moves v_i down and
/// all others up, so v shows which samples came less often than others in this pass. The noise in u
/// is +a for these and -b for the others, with mean 0 and variance 1 over all samples. Whoever
/// draws without replacement meets +a only.
class Remembering final : public Objective<double> {
 public:
  static constexpr std::size_t n = 200;
  static constexpr double level = 100;  // no loss that rises from 0 is taken for a divergence
  static constexpr double memory = 0.1;
  static constexpr double sigma2 = 1 + memory * memory;  // L = 1

  std::size_t dimension() const override { return n + 1; }
  std::size_t samples() const override { return n; }
  double loss(std::span<const double> x) const override { return level + x[0] * x[0] / 2; }
  double full_gradient(std::span<const double> x, std::span<double> g) const override {
    std::fill(g.begin(), g.end(), 0.0);
    g[0] = x[0];
    return loss(x);
  }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    squares_ += x[0] * x[0];
    ++gradients_;
    const auto v = x.subspan(1);
    const double untouched = *std::max_element(v.begin(), v.end()) - memory * 0.02 / 2;
    std::size_t seen = 0;
    for (const double place : v) seen += place < untouched;
    const double k = static_cast<double>(seen), left = static_cast<double>(n - seen);
    std::fill(g.begin(), g.end(), -memory / n);
    g[1 + rows[0]] += memory;
    g[0] = x[0];
    if (seen > 0) g[0] += v[rows[0]] < untouched ? -std::sqrt(left / k) : std::sqrt(k / left);
    return loss(x);
  }
  KnownConstants known() const override { return {.smoothness = 1, .least_loss = level}; }
  double mean_square() const { return squares_ / static_cast<double>(gradients_); }

 private:
  mutable double squares_ = 0;  // of one worker
  mutable std::uint64_t gradients_ = 0;
};

double mean_square(const Sampling& sampling, std::uint64_t seed) {
  const Remembering f;
  TrainOptions options{.workers = 1, .eta = 0.02, .batch = 1, .sampling = sampling, .epochs = 20};
  options.seed = seed;
  simulate(f, options, {});
  return f.mean_square();
}

TEST(DrawsOfOnePass, BreakTheBoundWithNoiseThatIndependentDrawsKeep) {
  const double bound = 0.02 * Remembering::sigma2;  // L eta sigma^2; r0 = 0 and nothing is stale
  double independent = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    EXPECT_GT(mean_square(Sampling::own, seed), 15 * bound) << seed;
    independent += mean_square(Sampling::independent, seed) / 4;
  }
  EXPECT_LT(independent, bound);
}

TEST(DrawsOfOnePass, AreNotCalledProved) {
  const Remembering f;
  AdviceRequest request{.options = {.workers = 2, .batch = 1, .epochs = 5},
                        .world = VirtualWorld{},
                        .try_steps = false};
  const auto status = [&](const Sampling& sampling) {
    request.options.sampling = sampling;
    const Advice advice = advise<double>(f, request);
    for (const StepSizeLimit& limit : advice.limits)
      if (limit.name == "noise_certificate" || limit.name.ends_with("_tuned"))
        EXPECT_EQ(limit.status, advice.recommended_status) << limit.name;
    return advice.recommended_status;
  };
  EXPECT_EQ(status(Sampling::independent), "proved");
  EXPECT_EQ(status(Sampling::own), "proved for independent draws");
  EXPECT_EQ(status(Sampling::shards), "proved for independent draws");
  request.elastic = true;
  EXPECT_EQ(status(Sampling::independent), "proved only for a fixed set of workers");
}

}  // namespace
}  // namespace dasgd
