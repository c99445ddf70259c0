// That ranks have compared their models before they say that these are identical, and that few bits
// leave them so.
#include <cmath>
#include <exception>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dasgd/cluster/train_ranks.hpp"
#include "mpi/ranks.hpp"
#include "support/bad_memory.hpp"

namespace dasgd::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Compared : public ::testing::TestWithParam<bool> {};

TEST_P(Compared, RanksThatDifferAreNamedAndTheRunFails) {
  auto ranks = all_ranks()->first(3);
  if (!ranks) return;
  const bool differs = GetParam();
  const BadMemory objective(differs ? std::optional(worker_id(2)) : std::nullopt);
  const auto result =
      train_ranks<double>(*ranks, objective, {.workers = 3, .eta = 0.01, .total_gradients = 60},
                          {.silence = std::chrono::minutes(2)});
  if (!result) return;  // of rank 0 alone
  const RunSummary& summary = result->summary;
  EXPECT_TRUE(summary.replicas_compared);
  ASSERT_EQ(summary.digest_of_all.size(), 3u);
  EXPECT_EQ(summary.replicas_identical, !differs);
  EXPECT_EQ(summary.digest_of_all[0].digest, summary.digest_of_all[1].digest);
  EXPECT_EQ(summary.digest_of_all[0].digest == summary.digest_of_all[2].digest, !differs);
  ASSERT_EQ(result->failure != nullptr, differs);
  if (!differs) return;
  try {
    std::rethrow_exception(result->failure);
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the replicas differ"), HasSubstr("rank 2")));
  }
}

INSTANTIATE_TEST_SUITE_P(BadMemory, Compared, ::testing::Bool());

/// f(x) = <slope, x>: all gradients are the same, so what full updates would sum up to is known.
class Plane final : public Objective<float> {
 public:
  std::size_t dimension() const override { return 10'000; }
  double gradient(std::span<const float>, Rows, std::span<float> g) const override {
    for (std::size_t k = 0; k < g.size(); ++k) g[k] = slope(k);
    return 1;
  }
  static float slope(std::size_t k) {
    return static_cast<float>(std::sin(1.0 + static_cast<double>(k)));
  }
};

struct FewBitsCase {
  MessageFormat message;
  bool share_memory;
  std::string relay;
  double bytes_per_number;  // at most, facts aside
};
void PrintTo(const FewBitsCase& c, std::ostream* out) {
  *out << to_string(c.message) << (c.share_memory ? "" : " apart") << " " << c.relay;
}

class FewBitsOfRanks : public ::testing::TestWithParam<FewBitsCase> {};

TEST_P(FewBitsOfRanks, WhatWasSentAndTheResidualAreTheFullUpdates) {
  auto ranks = all_ranks()->first(4);
  if (!ranks) return;
  const auto [message, share_memory, relay, bytes_per_number] = GetParam();
  const Plane objective;
  constexpr std::uint32_t gradients = 60;
  constexpr double eta = 0.01;
  const auto result =
      train_ranks<float>(*ranks, objective,
                         {.workers = 4,
                          .relay = parse_relay(relay),
                          .eta = eta,
                          .look_ahead = LookAhead{},
                          .message = message,
                          .gradients = {gradients, 0, 0, 0}},
                         {.silence = std::chrono::minutes(2), .share_memory = share_memory});
  if (!result) return;  // of rank 0 alone
  const RunSummary& summary = result->summary;
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_TRUE(summary.replicas_compared);
  EXPECT_TRUE(summary.replicas_identical);
  double missing = 0;
  for (std::size_t k = 0; k < objective.dimension(); ++k) {
    const double full = -eta * gradients * static_cast<double>(Plane::slope(k));
    missing += std::pow(full - static_cast<double>(result->model[k]), 2);
  }
  const double residual = summary.residual_norms.empty() ? 0 : summary.residual_norms[0];
  EXPECT_EQ(residual > 0, message != MessageFormat::full);
  EXPECT_NEAR(std::sqrt(missing), residual, 1e-4);
  const auto messages = static_cast<double>(summary.messages_sent[0]);
  EXPECT_GT(messages, 0);
  EXPECT_LE(static_cast<double>(summary.bytes_sent[0]),
            messages * (bytes_per_number * 10'000 + 200 * gradients));
}

INSTANTIATE_TEST_SUITE_P(Mpi, FewBitsOfRanks,
                         ::testing::Values(FewBitsCase{MessageFormat::full, false, "none", 8},
                                           FewBitsCase{MessageFormat::int8, false, "none", 2},
                                           FewBitsCase{MessageFormat::int8, false, "tree:2", 2},
                                           FewBitsCase{MessageFormat::int8, true, "none", 4},
                                           FewBitsCase{MessageFormat::int4, false, "none", 1.5},
                                           FewBitsCase{MessageFormat::ternary, false, "tree:1",
                                                       1.25}));

}  // namespace
}  // namespace dasgd::test
