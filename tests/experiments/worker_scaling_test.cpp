#include "dasgd/lab/experiments/worker_scaling.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/softmax.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using ::testing::HasSubstr;

class WorkerScaling : public ::testing::Test {
 protected:
  std::vector<ScalingRun> run() {
    return run_scaling(
        [this](std::uint64_t) {
          ++made;
          return std::make_unique<Softmax>(
              image_samples(test::tiny_image_set(8, 4), {.scale = Scale::by_255}));
        },
        plan, [](std::size_t, std::size_t) {});
  }
  ScalingPlan plan{.workers = {1, 2, 5, 10},
                   .thread_workers = {1, 2},
                   .seeds = {1, 2},
                   .eta = 0.002,
                   .batch = 4,
                   .target_loss = 0.3,
                   .gradients = 40'000};
  std::atomic<int> made{0};
  test::TemporaryDirectory directory;
};

TEST_F(WorkerScaling, TimeFallsAsWorkersAreAddedAndIterationsHardlyChange) {
  const auto points = summarise(run());
  ASSERT_EQ(points.size(), 6u);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(points[k].reached, 2u);
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_LT(points[k].seconds, points[k - 1].seconds);
    EXPECT_NEAR(points[k].iterations / points[0].iterations, 1, 0.5);
  }
  EXPECT_EQ(points[0].speed_up, 1);
  EXPECT_GT(points[3].speed_up, 3);
  EXPECT_EQ(points[4].way, "threads");
}

TEST_F(WorkerScaling, GoesOnWhereItWasInterrupted) {
  plan.cells = directory.file("cells");
  plan.thread_workers.clear();
  const std::string whole = to_csv(run());
  EXPECT_EQ(made, 8);
  for (const auto& cell : std::filesystem::directory_iterator(plan.cells)) {
    const std::string name = cell.path().filename();
    if (name.starts_with("virtual-5-workers-seed-2")) std::filesystem::remove(cell);
    if (name.starts_with("virtual-1-workers-seed-1"))
      directory.write("cells/" + name, "{ not JSON");
  }
  EXPECT_EQ(to_csv(run()), whole);
  EXPECT_EQ(made, 10) << "only what is missing or broken runs again";
  plan.eta = 0.001;
  run();
  EXPECT_EQ(made, 18) << "another setting is another experiment";
}

TEST_F(WorkerScaling, KeepsRunsOfSeveralSettingsInOneDirectory) {
  plan.cells = directory.file("cells");
  plan.workers = {1, 2};
  const std::string first = to_csv(run());
  plan.compute = std::chrono::microseconds(1);
  plan.eta = 0.001;
  const std::string second = to_csv(run());
  plan.compute_adds = true;
  run();
  const int before = made;
  plan.compute_adds = false;
  EXPECT_EQ(to_csv(run()), second);
  plan.compute = {};
  plan.eta = 0.002;
  EXPECT_EQ(to_csv(run()), first);
  EXPECT_EQ(made, before) << "nothing runs again";
}

TEST_F(WorkerScaling, PaddedRunsOnThreadsGoSideBySide) {
  plan.in_virtual_time = false;
  plan.thread_workers = {1, 2};
  plan.compute = std::chrono::microseconds(1);
  std::atomic<int> begun{0};
  const auto runs = run_scaling(
      [&](std::uint64_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();  // two workers fit: two runs of one worker
        return std::make_unique<Softmax>(
            image_samples(test::tiny_image_set(8, 4), {.scale = Scale::by_255}));
      },
      plan, [](std::size_t, std::size_t) {});
  ASSERT_EQ(runs.size(), 4u);
  for (const ScalingRun& run : runs) EXPECT_TRUE(run.reached);
}

TEST_F(WorkerScaling, FindsCellsWithTheNamesOfOlderVersions) {
  plan.cells = directory.file("cells");
  plan.workers = {1};
  plan.thread_workers.clear();
  plan.seeds = {1};
  std::filesystem::create_directories(plan.cells);
  directory.write("cells/virtual-1-workers-seed-1.json",
                  R"({"setting": "eta 0.002 batch 4 target 0.3 gradients 40000 spread)"
                  R"( scale 255 data tiny", "reached": true, "iterations": 7, "seconds": 1,)"
                  R"( "S_avg": 0, "S_max": 0})");
  plan.scale = "255";
  plan.data = "tiny";
  EXPECT_EQ(run().front().iterations, 7);
  EXPECT_EQ(made, 0);
  plan.data = "another";
  EXPECT_NE(run().front().iterations, 7) << "of another setting";
}

TEST_F(WorkerScaling, WithoutALimitARunTakesWhatItNeeds) {
  const auto limited = run();
  plan.gradients = 0;
  const auto free = run();
  ASSERT_EQ(free.size(), limited.size());
  for (std::size_t k = 0; k < free.size(); ++k)
    if (free[k].way == "virtual") {
      EXPECT_TRUE(free[k].reached);
      EXPECT_EQ(free[k].iterations, limited[k].iterations);
    }
}

TEST_F(WorkerScaling, AStopKeepsNothingHalfDone) {
  plan.cells = directory.file("cells");
  std::stop_source source;
  plan.stop = source.get_token();
  source.request_stop();
  EXPECT_TRUE(run().empty());
  EXPECT_TRUE(std::filesystem::is_empty(plan.cells));
}

TEST_F(WorkerScaling, WritesCsvJsonAndAPicture) {
  const auto runs = run();
  EXPECT_THAT(to_csv(runs), HasSubstr("S_avg,S_max,S_hat_avg,S_hat_max\n"));
  EXPECT_EQ(runs.back().S_hat_max, runs.back().S_max) << "delivery is causal";
  const auto points = summarise(runs);
  EXPECT_THAT(to_json(points), HasSubstr("\"speed_up\": 1.0"));
  EXPECT_EQ(points.back().S_hat_max, points.back().S_max);
  EXPECT_THAT(to_json(points), HasSubstr("\"S_hat_max\": "));
  EXPECT_THAT(to_svg("cifar", points), HasSubstr("speed-up over one worker"));
  plan.target_loss = -1;
  plan.gradients = 40;
  const auto never = summarise(run());
  EXPECT_EQ(never[0].reached, 0u);
  EXPECT_THAT(to_json(never), HasSubstr("\"seconds\": null"));
}

}  // namespace
}  // namespace dasgd
