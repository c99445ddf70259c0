// A disk of rank 0 that stands still is no reason for anybody to stand still.
#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "mpi/ranks.hpp"

namespace dasgd::test {
namespace {

/// Takes no line of other ranks until the worker here has applied fifty more of their gradients.
class FrozenDisk final : public TraceSink {
 public:
  std::size_t sources() const override { return 3; }
  std::exception_ptr failure() const override { return nullptr; }
  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds) override {
    std::unique_lock lock(mutex_);
    if (worker == WorkerId{0}) {
      for (const TraceLine& line : lines) foreign_ += line.name.origin != worker ? 1 : 0;
      grown_.notify_all();
    } else if (!lines.empty() && !thawed_) {
      const std::size_t goal = foreign_ + 50;
      thawed_ = grown_.wait_for(lock, std::chrono::minutes(1), [&] { return foreign_ >= goal; });
    }
  }
  std::optional<bool> thawed() const { return thawed_; }

 private:
  std::mutex mutex_;
  std::condition_variable grown_;
  std::size_t foreign_ = 0;
  std::optional<bool> thawed_;
};

TEST(FrozenDiskOfRankZero, DoesNotKeepGradientsFromArriving) {
  auto ranks = all_ranks()->first(3);
  if (!ranks) return;
  const Quadratic objective = Quadratic::random(7, 4);
  FrozenDisk disk;
  TrainOptions options{.workers = 3, .eta = 0.001, .total_gradients = 1500};
  options.compute = std::chrono::milliseconds(1);
  if (ranks->rank() == 0) options.trace = &disk;
  const auto result = train_ranks<double>(*ranks, objective, options,
                                          {.silence = std::chrono::minutes(2), .trace = true});
  if (!result) return;  // of rank 0 alone
  EXPECT_EQ(disk.thawed(), true);
  EXPECT_EQ(result->failure, nullptr);
  EXPECT_TRUE(result->summary.audit_is_clean());
}

}  // namespace
}  // namespace dasgd::test
