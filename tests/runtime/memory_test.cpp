// The formula of docs/design.md against what the process really took. Sanitizers keep what is
// freed.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <malloc.h>
#include <span>
#include <stdexcept>
#include <string>

#include "counted_memory.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/runtime/train.hpp"

namespace dasgd {
namespace {

constexpr std::size_t coordinates = 250'000;

class FlatBowl final : public Objective<float> {
 public:
  std::size_t dimension() const override { return coordinates; }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - 1;
    return 0.5 * static_cast<double>(g[0]) * static_cast<double>(g[0]);
  }
};

// VmRSS or VmHWM of this process.
std::size_t megabytes_in_use(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::stoul(line.substr(what.size() + 1)) / 1024;
  throw std::runtime_error("/proc/self/status has no line " + what);
}

void forget_the_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5 << std::flush;
  if (!clear) throw std::runtime_error("/proc/self/clear_refs cannot be written");
}

// Everything that the run holds, in megabytes, when a worker is k gradients behind.
double most_megabytes(double n, double in_flight, double k) {
  const double d = coordinates;
  const double replicas = n * (8 + 4 + 4) * d + 3 * 4 * d;  // sums, x, g; results and good models
  const double buffers = n * in_flight * 4 * d, held = n * 8 * 4 * d;
  const double bundles = n * (2 + std::log2(k)) * 8 * d, names = n * k * (48 + 4 * n);
  return (replicas + buffers + held + bundles + names) / (1 << 20);
}

TEST(Memory, OfAWorkerThatSleepsThroughTheRunIsWhatTheDesignSays) {
  constexpr std::size_t workers = 4, in_flight = 4, gradients = 1500;
  TrainOptions options{.workers = workers, .eta = 1e-4, .total_gradients = gradients};
  options.in_flight = in_flight;
  options.chaos.pauses = {{WorkerId{3}, 0, 1'000'000'000'000}};
  ::malloc_trim(0);
  forget_the_peak();
  const std::size_t before = megabytes_in_use("VmRSS");
  const auto summary = run_training<float>(FlatBowl(), options).summary;
  const double peak = static_cast<double>(megabytes_in_use("VmHWM") - before);
  const double limit = most_megabytes(workers, in_flight, gradients);
  fmt::print("peak {} MB, by the formula at most {:.0f} MB\n", peak, limit);
  EXPECT_TRUE(summary.audit_is_clean());
  EXPECT_GT(summary.folded, gradients / 2);
  EXPECT_LE(peak, limit);
}

/// One whose loss takes no memory.
class KnownBowl final : public Objective<float> {
 public:
  std::size_t dimension() const override { return coordinates; }
  double gradient(std::span<const float> x, Rows, std::span<float> g) const override {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - 1;
    return loss(x);
  }
  double loss(std::span<const float> x) const override { return 0.5 * std::pow(x[0] - 1, 2); }
};

TEST(Memory, OfOneWorkerIsItsSumsItsModelAGradientAnUpdateAndTheBestModel) {
  const KnownBowl bowl;
  test::most_bytes_since_last_call();
  const auto result = run_training<float>(bowl, {.workers = 1, .eta = 0.1, .gradients = {100}});
  const double most = static_cast<double>(test::most_bytes_since_last_call()) / coordinates;
  ASSERT_FALSE(result.failure);
  EXPECT_GT(most, 24 - 1);
  EXPECT_LT(most,
            24 + 1);  // not the model of the result as well: that comes when the rest has gone
}

TEST(Memory, OfACheckpointThatIsPackedIsThePackedOne) {
  Checkpoint checkpoint;
  checkpoint.dimension = coordinates;
  checkpoint.sums.resize(8 * coordinates);
  checkpoint.workers.resize(2);
  for (WorkerState& worker : checkpoint.workers)
    worker.carry_over.rule = worker.carry_over.residual = checkpoint.sums;
  const std::size_t all = 5 * 8 * coordinates;
  test::most_bytes_since_last_call();
  const std::string packed = encode(checkpoint);
  EXPECT_LT(test::most_bytes_since_last_call(), 1.1 * static_cast<double>(all));
  const Checkpoint unpacked = decode(std::as_bytes(std::span(packed)));
  EXPECT_EQ(unpacked.sums, checkpoint.sums);
  EXPECT_EQ(unpacked.workers[1].carry_over, checkpoint.workers[1].carry_over);
}

}  // namespace
}  // namespace dasgd

#endif
