// Messages of few bits in virtual time.
#include <gtest/gtest.h>

#include "dasgd/problems/logistic.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

class FewBitsRun : public ::testing::TestWithParam<MessageFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, FewBitsRun,
                         ::testing::Values(MessageFormat::int8, MessageFormat::int4,
                                           MessageFormat::ternary),
                         [](const auto& info) { return to_string(info.param); });

TEST_P(FewBitsRun, KeepsReplicasIdenticalAndFindsTheSameMinimum) {
  const Logistic problem = Logistic::random(1);
  for (const char* topology : {"full", "tree:2"}) {
    TrainOptions options{.workers = 5, .topology = topology, .eta = 0.02, .batch = 8};
    options.gradients = {2000};
    VirtualWorld world;
    world.nic = 20'000;
    const RunSummary full = simulate(problem, options, world).summary;
    options.message = GetParam();
    const RunSummary few = simulate(problem, options, world).summary;
    EXPECT_TRUE(few.audit_is_clean());
    EXPECT_TRUE(few.replicas_identical);
    EXPECT_FALSE(few.fixed_step);
    EXPECT_NEAR(few.loss, full.loss, 0.02 * full.loss);
    EXPECT_LT(few.bytes_sent[0] / few.messages_sent[0], full.bytes_sent[0] / full.messages_sent[0]);
  }
}

TEST_P(FewBitsRun, OnThreadsToo) {
  const Logistic problem = Logistic::random(1);
  TrainOptions options{.workers = 3, .eta = 0.02, .batch = 8};
  options.gradients = {500};
  options.message = GetParam();
  const RunSummary summary = train(problem, options).summary;
  EXPECT_TRUE(summary.audit_is_clean());
  EXPECT_EQ(summary.residual_norms.size(), 3u);
}

}  // namespace
}  // namespace dasgd
