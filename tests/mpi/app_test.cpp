// dasgd under mpirun, as a person would start it: real processes, real signals.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "mpi/mpi_app.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Shape {
  int ranks;
  const char* topology;
  const char* more;
};
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.ranks << " ranks, " << shape.topology << " " << shape.more;
}

class MpiTopologies : public MpiApp, public ::testing::WithParamInterface<Shape> {};
INSTANTIATE_TEST_SUITE_P(MpiApp, MpiTopologies,
                         ::testing::Values(Shape{4, "ring", ""}, Shape{4, "full", ""},
                                           Shape{4, "torus:2x2", "--slow 1:5"},
                                           Shape{8, "ring", "--slow 3:4"}, Shape{8, "full", ""},
                                           Shape{8, "torus:2x4", "--relay apply"},
                                           Shape{4, "torus:2x4", "--workers-per-rank 2"}));

TEST_P(MpiTopologies, TheAuditIsCleanAndTheCheckAgrees) {
  const auto [ranks, topology, more] = GetParam();
  const Outcome trained = mpirun(
      ranks, std::string("train --model quadratic --gradients 100 --lr 0.001 --trace --topology ") +
                 topology + " " + more + " --out " + out());
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("lost 0, duplicated 0, replicas identical"));
  const Outcome checked = check("--json");
  EXPECT_EQ(checked.status, 0) << checked.err;
  const json trace = json::parse(checked.out), run = summary();
  EXPECT_EQ(trace["ok"], true);
  EXPECT_EQ(trace["workers"], run["workers"]);
  EXPECT_EQ(trace["gradients"], 100 * run["workers"].get<int>());
  for (const char* key : {"S_max", "S_hat_max", "W"}) EXPECT_EQ(trace[key], run[key]) << key;
  for (const char* key : {"S_avg", "S_hat_avg", "S_mean_square"})
    EXPECT_DOUBLE_EQ(trace[key], run[key]) << key;
  EXPECT_EQ(run["ranks"], ranks);
  EXPECT_EQ(run["clock_offsets"].size(), static_cast<std::size_t>(ranks));
  EXPECT_EQ(trace["clock_tolerance"], run["clock_tolerance"]);
}

TEST_F(MpiApp, EveryModelTrainsUnderMpi) {
  write_tiny_idx(directory);
  EXPECT_EQ(mpirun(3, "train --model softmax --data " + directory.path() +
                          " --batch 5 --epochs 40 --lr 0.2 --quiet --out " + out())
                .status,
            0);
  EXPECT_GT(summary()["accuracy"], 0.95);
  EXPECT_EQ(
      mpirun(3, "train --model logistic --batch 10 --gradients 50 --quiet --out " + out()).status,
      0);
  EXPECT_EQ(summary()["gradients"], 150);
  EXPECT_EQ(
      mpirun(2,
             "train --model quadratic --lr 0.02 --compute 1ms --target-error 1e-6 --quiet --out " +
                 out())
          .status,
      0);
  EXPECT_EQ(summary()["stop_reason"], "target");
}

// All ranks read the rows, and each learns from every third.
TEST_F(MpiApp, RanksFollowOneFileAndLearnEveryRowOnce) {
  std::string rows;
  for (int k = 0; k < 600; ++k) {
    const double u = (k * 37 % 101 - 50) / 25.0, v = (k * 53 % 97 - 48) / 24.0;
    rows += std::to_string(u) + "," + std::to_string(v) + (u + v > 0 ? ",1\n" : ",0\n");
  }
  const std::string run = "train --lr 0.5 --batch 10 --total-gradients 60 --data follow:" +
                          directory.write("rows", rows) + " --out " + out();
  for (const std::string model : {"logistic", "softmax"}) {
    const Outcome outcome = mpirun(3, run + " --model " + model);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(summary()["samples"], 600);
    EXPECT_EQ(summary()["gradients_by_worker"], nlohmann::json({20, 20, 20}));
    EXPECT_EQ(summary()["arrivals"]["arrived"], 600);
    EXPECT_EQ(summary()["replicas_identical"], true);
    EXPECT_GT(summary()["accuracy"], 0.9);
  }
  const std::string broken = directory.write("broken", rows + "1,oops,0\n");
  const Outcome refused = mpirun(
      2, "train --model logistic --quiet --data follow:" + broken + " --features 2 --out " + out());
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("broken:601: column 2: \"oops\" is not a number"));
  EXPECT_THAT(mpirun(2, "train --model logistic --data follow:/no/such --out " + out()).err,
              HasSubstr("/no/such: cannot be followed"));
}

TEST_F(MpiApp, TheConfigOfARunOnRanksRepeatsOnThreads) {
  ASSERT_EQ(mpirun(2, "train --model quadratic --gradients 20 --quiet --out " + out()).status, 0);
  fs::copy(out() + "/config.toml", directory.file("again.toml"));
  const Outcome again =
      shell(DASGD_BINARY " train " + directory.file("again.toml") + " --quiet --out " + out());
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(summary()["workers"], 2);
  EXPECT_FALSE(summary().contains("ranks"));
}

TEST_F(MpiApp, OneLineReportsAMistakeWhoeverFoundIt) {
  const auto refusal = [&](int ranks, const std::string& arguments, const std::string& what) {
    const Outcome outcome = mpirun(ranks, arguments + " --out " + out());
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
    EXPECT_EQ(outcome.err.find("dasgd: "), outcome.err.rfind("dasgd: ")) << outcome.err;
    EXPECT_FALSE(fs::exists(out()));
  };
  refusal(3, "train --model quadratc", "dasgd: --model quadratc: unknown model");
  refusal(3, "train --model quadratic --workers 4", "4 workers do not fit on 3 ranks");
  refusal(2, "train --model quadratic --polling often", "unknown polling \"often\"");
  refusal(2, "train --model logistic --data /no/such", "\"/no/such\" is neither");
  refusal(2, "train --model quadratic --delay 0.1:1ms", "chaos on links needs threads");
  refusal(2, "train --model logistic --data -", "standard input reaches one rank only");
  refusal(2, "train --model quadratic --engine nonsense", "unknown engine \"nonsense\"");
  refusal(2, "train --model quadratic --bogus", "dasgd: unknown option --bogus");
}

// Rank 0 finds the step; the others must compute as the proof supposes all the same.
TEST_F(MpiApp, WithLrProvedNoRankLooksAhead) {
  const Outcome outcome = mpirun(
      2, "train --model logistic --batch 10 --gradients 60 --lr proved --quiet --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const json& lambda : summary()["look_ahead"]) EXPECT_EQ(lambda, 0);
  EXPECT_EQ(summary()["sampling"], "independent");
  for (const json& assumed : summary()["assumptions"]["list"])
    if (assumed["name"] == "look_ahead") EXPECT_EQ(assumed["held"], true);
}

// A file that one machine of a cluster does not have. mpirun starts two programs as one job.
TEST_F(MpiApp, AMistakeOfOneRankIsReportedByTheFirst) {
  const std::string data = directory.write("data", "1 1:1\n-1 2:1\n");
  const std::string run = " train --model logistic --gradients 5 --out " + out() + " --data ";
  const Outcome missing = shell("timeout 120 " DASGD_MPIRUN " -n 1 " DASGD_BINARY + run + data +
                                " : -n 1 " DASGD_BINARY + run + "/no/such");
  EXPECT_EQ(missing.status, 2) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("dasgd: rank 1: data \"/no/such\" is neither"));
  const Outcome other = shell("timeout 120 " DASGD_MPIRUN " -n 1 " DASGD_BINARY + run + data +
                              " : -n 1 " DASGD_BINARY + run + data + " --lr 0.3");
  EXPECT_EQ(other.status, 2) << other.err;
  EXPECT_THAT(other.err, HasSubstr("rank 1 differs from rank 0 in configuration"));
}

TEST_F(MpiApp, AnOptionThatOneRankCannotReadIsReportedByTheFirst) {
  const std::string run = DASGD_BINARY " train --model quadratic --gradients 5 --out " + out();
  const auto job = [](const std::string& first, const std::string& last) {
    return shell("timeout 120 " DASGD_MPIRUN " -n 2 " + first + " : -n 1 " + last);
  };
  const Outcome last = job(run, run + " --bogus");
  EXPECT_EQ(last.status, 2) << last.err;
  EXPECT_THAT(last.err, HasSubstr("dasgd: rank 2: unknown option --bogus"));
  const Outcome first = job(run + " --workers", run);
  EXPECT_EQ(first.status, 2) << first.err;
  EXPECT_THAT(first.err, HasSubstr("dasgd: --workers needs a value"));
  const Outcome word = job(run, DASGD_BINARY " trian");
  EXPECT_EQ(word.status, 2) << word.err;
  EXPECT_THAT(word.err, HasSubstr("dasgd: rank 2: unknown command \"trian\""));
}

TEST_F(MpiApp, ADivergingRunFailsOnceAndKeepsItsRecords) {
  const Outcome outcome =
      mpirun(3, "train --model quadratic --lr 5 --gradients 100000 --quiet --out " + out());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, ContainsRegex("dasgd: diverged: worker [012], gradient"));
  EXPECT_EQ(summary()["stop_reason"], "diverged");
  EXPECT_EQ(summary()["replicas_identical"], true);
}

// Only rank 1 computes, one gradient: the model shows which step size it took.
TEST_F(MpiApp, RankZeroTakesAdviceForAllRanks) {
  const std::string run = "train --model quadratic --gradients 0,1 --quiet --out " + out();
  ASSERT_EQ(mpirun(2, run + " --lr auto").status, 0);
  const json advised = summary();
  const double eta = json::parse(read_text(out() + "/advice.json"))["practical_eta"];
  EXPECT_NE(eta, 0.01) << "the default";
  ASSERT_EQ(shell(DASGD_BINARY " " + run + fmt::format(" --workers 2 --lr {}", eta)).status, 0);
  EXPECT_EQ(summary()["replica_digest"], advised["replica_digest"]);
}

// Only rank 1 computes: the model shows which schedule it followed.
TEST_F(MpiApp, AllRanksCoolDownWithTheStepThatRankZeroHasFound) {
  const std::string run =
      "train --model logistic --batch 4 --gradients 0,400 --quiet --no-report --out " + out();
  ASSERT_EQ(mpirun(2, run + " --lr auto").status, 0);
  const json advised = summary();
  const json advice = json::parse(read_text(out() + "/advice.json"));
  ASSERT_EQ(advice["practical_schedule"], "cooldown");
  const auto digest_with = [&](const std::string& schedule) {
    EXPECT_EQ(
        mpirun(2, run + fmt::format(" --lr {} --schedule ", advice["practical_eta"].get<double>()) +
                      schedule)
            .status,
        0);
    return summary()["replica_digest"];
  };
  EXPECT_EQ(digest_with("cooldown"), advised["replica_digest"]);
  EXPECT_NE(digest_with("constant"), advised["replica_digest"]);
}

TEST_F(MpiApp, MoreRanksThanCoresArePredicted) {
  const Outcome outcome = mpirun(
      2, fmt::format("train --model quadratic --lr auto --gradients 5 --workers-per-rank {} --out ",
                     std::thread::hardware_concurrency()) +
             out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(read_text(out() + "/advice.json"), HasSubstr("predicted"));
}

class MpiSignals : public MpiApp, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(MpiApp, MpiSignals, ::testing::Values(SIGINT, SIGTERM, SIGUSR1),
                         [](const auto& info) {
                           return std::string("SIG") + ::sigabbrev_np(info.param);
                         });

// Open MPI kills its ranks a second after it has passed SIGINT or SIGTERM on, done or not; on a
// busy machine they need longer, and docs/cluster.md says how to give it to them.
TEST_P(MpiSignals, ASignalToMpirunStopsCleanlyAndWritesEverything) {
  const Process process("env OMPI_MCA_odls_base_sigkill_timeout=10 " +
                        command(4, endless("--quiet --no-report")));
  ASSERT_TRUE(is_running());
  process.signal(GetParam());
  const Outcome outcome = process.wait();  // Open MPI's own status is 1, MPICH's is ours or 0
  EXPECT_THAT(outcome.status, AnyOf(0, 1, 130)) << outcome.err;
  EXPECT_EQ(summary()["stop_reason"], "interrupted");
  EXPECT_EQ(summary()["lost"], 0);
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_EQ(check().status, 0);
}

// The one rank is asked to stop while the other has not even begun.
TEST_F(MpiApp, AStopBeforeTheRunBeginsLeavesTheEarlierRunAsItWas) {
  const std::string run =
      "train --model quadratic --gradients 50 --quiet --no-report --out " + out() + " --lr ";
  ASSERT_EQ(mpirun(2, run + "0.001").status, 0);
  const json before = summary();
  const std::string here = DASGD_BINARY " " + run + "auto", late = directory.file("late");
  const std::string later =
      directory.write("later.sh", "echo $$ >" + late + "; kill -STOP $$; exec " + here);
  for (const int first : {0, 1}) {
    fs::remove(late);
    const std::string programs[] = {here, "sh " + later};
    const Process job("timeout 120 " DASGD_MPIRUN " -n 1 " + programs[first] + " : -n 1 " +
                      programs[1 - first]);
    const auto has = [](pid_t process, const std::string& line) {
      return ::testing::Matches(ContainsRegex(line))(
          read_text("/proc/" + std::to_string(process) + "/status"));
    };
    const auto rank = [&] { return process_of(first); };
    ASSERT_TRUE(eventually([&] { return rank() > 0 && has(rank(), "SigBlk:.*420[23]\n"); }));
    ::kill(rank(), SIGINT);
    ASSERT_TRUE(eventually([&] { return has(rank(), "ShdPnd:\t0*\n"); })) << "it has taken it";
    ASSERT_TRUE(eventually([&] { return has(std::atoi(read_text(late).c_str()), "State:\tT"); }));
    ::kill(std::atoi(read_text(late).c_str()), SIGCONT);
    const Outcome outcome = job.wait();
    EXPECT_THAT(outcome.status, AnyOf(0, 1, 130)) << outcome.err;
    EXPECT_EQ(summary(), before) << outcome.err;
    EXPECT_FALSE(fs::exists(out() + "/advice.json"));
  }
}

TEST_F(MpiApp, ARankThatIsKilledEndsTheJob) {
  const Process process("timeout 100 " + command(4, endless()));
  ASSERT_TRUE(is_running());
  ASSERT_NO_FATAL_FAILURE(kill_rank_two(process));
  EXPECT_TRUE(eventually([&] { return process_of(0) == 0 && process_of(3) == 0; }));
}

TEST_F(MpiApp, ARankThatCannotBeginEndsTheJob) {
  const Outcome outcome = shell("timeout 100 " DASGD_MPIRUN " -n 3 " DASGD_FAILING_RANK);
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.status, 124) << "it hung";
  EXPECT_THAT(outcome.err, HasSubstr("rank 2: no device is left"));
}

// What a launcher does not notice: the rank is there, but says nothing.
TEST_F(MpiApp, ARankThatFallsSilentIsNamedAndEndsTheJob) {
  const Process process("timeout 100 " + command(3, endless("--rank-timeout 6s")));
  ASSERT_TRUE(is_running());
  const pid_t victim = process_of(1);
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGSTOP);
  const Outcome outcome = process.wait();
  ::kill(victim, SIGKILL);
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.status, 124) << "it hung";
  EXPECT_THAT(outcome.err, ContainsRegex("dasgd: rank 0 .*: rank 1 has been silent for"));
}

TEST_F(MpiApp, EveryRankCanLogAndOnlyTheFirstPrints) {
  const Outcome outcome =
      mpirun(3, "train --model quadratic --gradients 10 --log-ranks --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* rank : {"rank 0 (", "rank 1 (", "rank 2 ("})
    EXPECT_THAT(outcome.err, HasSubstr(rank));
  EXPECT_EQ(outcome.out.find("trained"), outcome.out.rfind("trained"));
}

// Without memory in common, over a mesh and over a tree, in few bits and with `auto`.
TEST_F(MpiApp, RanksOfOneMachineCanTakeEachOtherForRanksOfSeveral) {
  for (const std::string how : {"--relay mesh", "--relay tree:2 --message int8",
                                "--relay mesh --message auto", "--relay auto --message ternary"}) {
    const Outcome outcome =
        mpirun(5, "train --model quadratic --gradients 100 --lr 0.001 --trace --no-shared-memory " +
                      how + " --out " + out());
    ASSERT_EQ(outcome.status, 0) << how << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("lost 0, duplicated 0, replicas identical"));
    EXPECT_EQ(check().status, 0) << how;
    const bool is_open = how.find("auto") != how.npos;
    EXPECT_EQ(summary().contains("links_why"), is_open) << how;
  }
  EXPECT_EQ(summary()["relay"], "mesh");
  EXPECT_EQ(summary()["links_why"], "5 ranks that share no memory");
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("no_shared_memory = true"));
}

TEST_F(MpiApp, ThreadsCanBeForced) {
  const Outcome outcome = mpirun(
      1,
      "train --engine threads --workers 3 --model quadratic --gradients 10 --quiet --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(summary().contains("ranks"));
}

TEST_F(MpiApp, OneProcessCanBeARankOfItsOwn) {
  const Outcome outcome = shell(DASGD_BINARY
                                " train --engine mpi --workers 3 --model quadratic --gradients 10 "
                                "--quiet --out " +
                                out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary()["ranks"], 1);
  EXPECT_EQ(summary()["workers"], 3);
}

}  // namespace
}  // namespace dasgd::test
