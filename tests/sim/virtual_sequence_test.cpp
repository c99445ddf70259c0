// All gradients in the order in which they were begun (docs/theory.md, section 6).
#include "dasgd/staleness/virtual_sequence.hpp"

#include <gtest/gtest.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

TEST(TheVirtualSequence, LacksTwoGradientsAtMostHoweverSlowOneOfTwoWorkersIs) {
  const Quadratic q = Quadratic::random(1);
  for (const double x : {1.0, 2.0, 7.3, 25.0, 100.0})
    for (const Nanoseconds latency : {50'000, 1'000'000, 30'000'000}) {
      SCOPED_TRACE(testing::Message() << x << " times slower, latency " << latency);
      const test::TemporaryDirectory directory;
      TraceWriter writer(directory.file("t"), 1);
      TrainOptions options{.workers = 2, .eta = 1e-4, .slow = {{WorkerId{1}, x}}};
      options.total_gradients = 600;
      options.trace = &writer;
      const auto run = simulate(q, options, {.latency = TimeModel::constant(latency)});
      writer.finish();
      const auto R = virtual_sequence(read_trace(directory.file("t")).applications);
      ASSERT_TRUE(R);
      EXPECT_LE(R->max, 2u);
      EXPECT_DOUBLE_EQ(R->mean, run.summary.staleness.S_avg) << "causal and drained";
      EXPECT_GE(static_cast<double>(run.summary.staleness.S_max), x);
    }
}

}  // namespace
}  // namespace dasgd
