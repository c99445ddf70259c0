#include "dasgd/watch/live_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace dasgd::watch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TraceLine own(std::size_t worker, Nanoseconds time) {
  return {.worker = worker_id(worker), .name = {worker_id(worker), 0}, .time = time, .start = 0};
}

TEST(LiveRun, FramesHaveWhatWorkersDidAndWhereTheRunStands) {
  LiveRun run("runs/a", "model = \"quadratic\"\n");
  {
    std::jthread first([&] { run.add(worker_id(0), {own(0, 1000)}, 1000); });
    std::jthread second([&] { run.add(worker_id(1), {own(1, 1500)}, 1500); });
  }
  run.update({.seconds = 0.2, .gradients = 2, .loss = 0.5, .gradients_by_worker = {1, 1}},
             {"running", 0.25, 3.0});
  const json frame = json::parse(run.frame());
  EXPECT_EQ(frame["live"]["state"], "running");
  EXPECT_EQ(frame["live"]["done"], 0.25);
  EXPECT_EQ(frame["run"]["config"]["model"], "quadratic");
  EXPECT_EQ(frame["run"]["trace"]["gradients"], 2);
  EXPECT_EQ(frame["run"]["metrics"]["loss"]["mean"][0], 0.5);
  EXPECT_EQ(frame["run"]["summary"], nullptr);
  run.end({.lost = 7});
  EXPECT_EQ(json::parse(run.frame())["live"]["state"], "ended");
  EXPECT_EQ(json::parse(run.frame())["run"]["summary"]["lost"], 7);
}

TEST(LiveRun, PrometheusGetsEveryWorker) {
  LiveRun run("a", "");
  run.update({.gradients = 3, .gradients_by_worker = {1, 2}, .inbox_by_worker = {0, 7}}, {});
  const std::string text = run.prometheus();
  EXPECT_THAT(text, HasSubstr("# TYPE dasgd_gradients_total counter\ndasgd_gradients_total 3\n"));
  EXPECT_THAT(text, HasSubstr("dasgd_worker_gradients_total{worker=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("dasgd_worker_inbox_depth{worker=\"1\"} 7\n"));
  EXPECT_EQ(text.find("dasgd_loss"), text.npos);
}

TEST(LiveRun, MemoryIsBoundedAndWhatIsMissingIsSaid) {
  LiveRun run("a", "");
  for (int k = 0; k < 500; ++k)
    run.add(worker_id(0), std::vector<TraceLine>(1000, own(0, 1000 + k)), 1000 + k);
  run.update({}, {});
  const json frame = json::parse(run.frame());
  EXPECT_EQ(frame["run"]["trace"]["gradients"], 200'000);
  EXPECT_THAT(frame["run"]["notes"][0].get<std::string>(), HasSubstr("300000 applications"));
  EXPECT_LT(run.frame().size(), 200'000u);
}

}  // namespace
}  // namespace dasgd::watch
