// Ranks that are slow or stopped hold nobody up.
#include <fstream>

#include "mpi/mpi_app.hpp"

namespace dasgd::test {
namespace {

using nlohmann::json;

class MpiWaitFree : public MpiApp {
 protected:
  /// Gradients of all ranks, as the metrics of the run under way show.
  std::uint64_t gradients_so_far() {
    std::ifstream file(out() + "/metrics.jsonl.partial");
    std::uint64_t gradients = 0;
    for (std::string line; std::getline(file, line) && !file.eof();)
      gradients = json::parse(line)["gradients"];
    return gradients;
  }
};

class MpiStoppedRank : public MpiWaitFree, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(MpiWaitFree, MpiStoppedRank,
                         ::testing::Values("full", "full --no-shared-memory --message int8", "ring",
                                           "tree:2 --no-shared-memory", "exponential"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

TEST_P(MpiStoppedRank, HoldsNobodyUpAndLosesNothing) {
  const Process job(command(4,
                            "train --model quadratic --lr 1e-5 --compute 1ms --max-time 10min "
                            "--in-flight 4 --rank-timeout 5min --trace --quiet --topology " +
                                std::string(GetParam()) + " --out " + out()));
  ASSERT_TRUE(is_running());
  const pid_t stopped = process_of(2);
  ASSERT_GT(stopped, 0);
  ::kill(stopped, SIGSTOP);
  const std::uint64_t before = gradients_so_far();
  // 1,000 gradients of three ranks that have four buffers each: they do not wait for room.
  EXPECT_TRUE(eventually([&] { return gradients_so_far() > before + 1000; }));
  ::kill(stopped, SIGCONT);
  job.signal(SIGUSR1);
  const Outcome outcome = job.wait();
  ASSERT_THAT(outcome.status, ::testing::AnyOf(0, 1, 130)) << outcome.err;  // as mpirun has it
  const json run = summary();
  EXPECT_EQ(run["lost"], 0);
  EXPECT_EQ(run["duplicated"], 0);
  EXPECT_EQ(run["replicas_identical"], true);
  EXPECT_GT(run["folded"], 0);
  EXPECT_EQ(check().status, 0) << check().out;
}

TEST_F(MpiWaitFree, EpochsAreOfAllRanksTogetherAndASlowOneDoesNotHoldThemUp) {
  const Outcome outcome = mpirun(
      3, "train --model logistic --batch 10 --epochs 20 --lr 0.01 --slow 2:1000000 --quiet --out " +
             out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json run = summary();
  EXPECT_GE(run["samples"], 2000);
  EXPECT_LE(run["gradients_by_worker"][2], 1);
  EXPECT_EQ(run["lost"], 0);
}

// What is minimised does not depend on which rank is slow.
TEST_F(MpiWaitFree, ASlowRankChangesNothingAboutWhatIsMinimised) {
  double loss[2];
  for (const int slow : {0, 1}) {
    const Outcome outcome = mpirun(
        2, "train --model logistic --batch 10 --total-gradients 60000 --lr 0.01 --quiet --slow 1:" +
               std::string(slow ? "30" : "1") + " --out " + out());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    loss[slow] = summary()["loss"];
  }
  EXPECT_NEAR(loss[1], loss[0], 0.02 * loss[0]);
}

}  // namespace
}  // namespace dasgd::test
