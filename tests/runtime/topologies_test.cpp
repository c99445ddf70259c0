#include <gtest/gtest.h>

#include "dasgd/dasgd.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

struct Shape {
  std::string topology;
  std::size_t workers;
  std::optional<RelayMode> relay;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.topology; }

class EveryTopology : public ::testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(
    Train, EveryTopology,
    ::testing::Values(Shape{"ring", 8, {}}, Shape{"full", 16, {}}, Shape{"ring", 16, {}},
                      Shape{"directed-ring", 16, {}}, Shape{"star", 16, {}},
                      Shape{"torus:4x4", 16, {}}, Shape{"mesh:4x4", 16, {}},
                      Shape{"exponential", 16, {}}, Shape{"random-regular:3", 16, {}},
                      Shape{"ring", 16, RelayMode::apply}, Shape{"torus:4x4", 16, RelayMode::apply},
                      Shape{"star", 16, RelayMode::apply},
                      Shape{"directed-ring", 16, RelayMode::apply},
                      Shape{"full", 16, RelayMode::arrival}),
    [](const auto& info) {
      std::string name = info.param.topology + std::to_string(info.param.workers) +
                         (info.param.relay ? to_string(*info.param.relay) : "");
      std::erase_if(name, [](char c) { return !std::isalnum(c); });
      return name;
    });

TEST_P(EveryTopology, EndsWithACleanAuditAndATraceThatTheCheckAgreesWith) {
  const test::TemporaryDirectory directory;
  for (const double slow : {1.0, 20.0}) {
    TraceWriter trace(directory.file("trace.jsonl"), GetParam().workers);
    TrainOptions options{.workers = GetParam().workers,
                         .topology = GetParam().topology,
                         .relay = GetParam().relay,
                         .eta = 0.002,
                         .gradients = {100}};
    options.trace = &trace;
    if (slow > 1) options.slow = {{WorkerId{1}, slow}};
    const auto result = train(Quadratic::random(1), options);
    trace.finish();
    EXPECT_TRUE(result.summary.audit_is_clean());
    EXPECT_EQ(result.summary.gradients, 100 * GetParam().workers);
    EXPECT_EQ(result.summary.stop_reason, StopReason::budget);

    const TraceFile file = read_trace(directory.file("trace.jsonl"));
    const TraceCheck check = check_trace(file.applications);
    ASSERT_TRUE(check.ok()) << check.violations.front().line << ": "
                            << check.violations.front().what;
    EXPECT_EQ(check.events.size(), result.summary.gradients * GetParam().workers);
    for (const TraceLine& a : file.applications) ASSERT_TRUE(a.S.has_value());
    EXPECT_DOUBLE_EQ(check.staleness.S_avg, result.summary.staleness.S_avg);
    EXPECT_DOUBLE_EQ(check.staleness.S_hat_avg, result.summary.staleness.S_hat_avg);
    EXPECT_EQ(check.staleness.S_hat_max, result.summary.staleness.S_hat_max);
    EXPECT_DOUBLE_EQ(check.staleness.S_mean_square, result.summary.staleness.S_mean_square);
    EXPECT_EQ(check.staleness.W, result.summary.staleness.W);
    EXPECT_EQ(check.noncausal_applications, result.summary.noncausal_applications);
  }
}

TEST_P(EveryTopology, CannotDeadlockWithTheSmallestBuffers) {
  const auto result = train(Quadratic::random(1), {.workers = GetParam().workers,
                                                   .topology = GetParam().topology,
                                                   .relay = GetParam().relay,
                                                   .eta = 0.001,
                                                   .gradients = {50},
                                                   .in_flight = 2});
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Train, TakesAGraphFromAFile) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("edges", "0 1\n1 2\n2 -> 3\n3 -> 0\n");
  for (const RelayMode relay : {RelayMode::arrival, RelayMode::apply}) {
    const auto result = train(Quadratic::random(1), {.workers = 4,
                                                     .topology = "file:" + path,
                                                     .relay = relay,
                                                     .eta = 0.002,
                                                     .gradients = {100}});
    EXPECT_TRUE(result.summary.audit_is_clean());
  }
}

}  // namespace
}  // namespace dasgd
