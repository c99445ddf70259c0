// Runs on ranks that are killed and go on, on ranks and on threads.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dasgd/record/checkpoints/checkpoint_directory.hpp"
#include "mpi/mpi_app.hpp"

namespace dasgd::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class MpiResume : public MpiApp {
 protected:
  // More than can be done before a few checkpoints are there, and not much more.
  std::string start(const std::string& how = "--rule momentum --lr 1e-4 --gradients 6000") {
    return "train --model quadratic --topology ring --compute 1ms --checkpoint-every 100ms --trace "
           "--rank-timeout 60s --quiet --out " +
           out() + " " + how;
  }
  std::string resume(const std::string& more = "") {
    return "train --resume " + out() + " --quiet " + more;
  }

  bool wait_for_checkpoints(std::size_t count) {
    return eventually([&] { return checkpoints().size() >= count; });
  }

  /// Starts a run on 4 ranks and kills one of them once it has kept checkpoints.
  void kill_a_rank(const std::string& arguments, std::size_t after = 2) {
    const Process process("timeout 100 " + command(4, arguments));
    ASSERT_TRUE(wait_for_checkpoints(after));
    ASSERT_NO_FATAL_FAILURE(kill_rank_two(process));
    EXPECT_FALSE(fs::exists(out() + "/summary.json"));
  }

  void expect_whole_run(std::size_t workers) {
    const json s = summary();
    EXPECT_EQ(s["workers"], workers);
    EXPECT_EQ(s["lost"], 0);
    EXPECT_EQ(s["duplicated"], 0);
    EXPECT_EQ(s["replicas_identical"], true);
    EXPECT_EQ(s["resumed"]["leg"], 2);
    EXPECT_GT(s["resumed"]["gradients"], 0);
    std::uint64_t made = s["resumed"]["gradients"];
    for (const std::uint64_t count : s["gradients_by_worker"]) made += count;
    EXPECT_EQ(s["gradients"], made);
    EXPECT_FALSE(checkpoints().empty());
    const Outcome checked = check();
    EXPECT_EQ(checked.status, 0) << checked.err;
  }
};

struct Continuation {
  const char* how;
  int ranks;  // 0: threads
  std::size_t workers;
  const char* more;
};

void PrintTo(const Continuation& continuation, std::ostream* to) { *to << continuation.how; }

class MpiContinuations : public MpiResume, public ::testing::WithParamInterface<Continuation> {};
INSTANTIATE_TEST_SUITE_P(
    MpiResume, MpiContinuations,
    ::testing::Values(Continuation{"SameRanks", 4, 4, ""}, Continuation{"FewerRanks", 3, 3, ""},
                      Continuation{"MoreRanks", 6, 6, ""},
                      Continuation{"SameWorkersOnHalfTheRanks", 2, 4, ""},
                      Continuation{"SeveralWorkersPerRank", 3, 6, "--workers-per-rank 2"},
                      Continuation{"Threads", 0, 4, ""}),
    [](const auto& info) { return info.param.how; });

TEST_P(MpiContinuations, DoTheRestAfterARankWasKilled) {
  const auto [how, ranks, workers, more] = GetParam();
  kill_a_rank(start());
  const Outcome resumed =
      ranks > 0 ? mpirun(ranks, resume(more)) : shell(DASGD_BINARY " " + resume(more));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  expect_whole_run(workers);
  EXPECT_EQ(summary()["stop_reason"], "budget");
  if (workers == 4) {
    EXPECT_EQ(summary()["gradients"], 4 * 6000);
  }
}

TEST_F(MpiResume, AKilledRunOnThreadsGoesOnOnRanks) {
  {
    const Process process(DASGD_BINARY " " + start() + " --workers 3");
    ASSERT_TRUE(wait_for_checkpoints(2));
    process.signal(SIGKILL);
    process.wait();
  }
  const Outcome resumed = mpirun(3, resume());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  expect_whole_run(3);
  EXPECT_EQ(summary()["gradients"], 3 * 6000);
}

TEST_F(MpiResume, AResumedRunReachesItsTarget) {
  // Steps so small that the target is not reached before the kill, then larger ones, but small
  // enough for gradients that are hundreds of others late where ranks get no turn for a while.
  // A target that is near, as such a machine takes long for each of them.
  kill_a_rank(start("--lr 1e-7 --target-error 1"));
  const Outcome resumed = mpirun(4, resume("--lr 0.0005"));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  expect_whole_run(4);
  EXPECT_EQ(summary()["stop_reason"], "target");
}

TEST_F(MpiResume, ADamagedCheckpointIsNamedOnceAndTheOneBeforeIsUsed) {
  kill_a_rank(start(), 3);
  const std::string newest = checkpoints().back();
  std::string bytes = read_text(newest);
  bytes[bytes.size() / 3] ^= 4;
  std::ofstream(newest, std::ios::binary) << bytes;
  const Outcome resumed = mpirun(4, resume());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr(newest + ": is damaged: its checksum does not match"));
  EXPECT_EQ(resumed.err.find(newest), resumed.err.rfind(newest)) << resumed.err;
  expect_whole_run(4);
}

TEST_F(MpiResume, WithoutAGoodCheckpointTheRunIsLeftAlone) {
  kill_a_rank(start());
  for (const std::string& file : checkpoints()) fs::resize_file(file, 10);
  const Outcome refused = mpirun(3, resume());
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("checkpoints can be read"));
  EXPECT_TRUE(fs::exists(out() + "/metrics.jsonl.partial")) << "nothing was touched";
}

TEST_F(MpiResume, TheRulesOfAllRanksAreKept) {
  ASSERT_EQ(mpirun(3, start("--workers-per-rank 2 --rule adam --gradients 20")).status, 0);
  const auto last = CheckpointDirectory(out() + "/checkpoints").newest_good([](const auto&) {});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->gradients, 6u * 20);
  ASSERT_EQ(last->workers.size(), 6u);
  for (const WorkerState& worker : last->workers) {
    EXPECT_GT(worker.carry_over.rule.size(), 2 * last->dimension * sizeof(double))
        << "two means and a count";
    EXPECT_EQ(worker.computed, 20u);
  }
}

}  // namespace
}  // namespace dasgd::test
