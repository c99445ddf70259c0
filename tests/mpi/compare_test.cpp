// `dasgd compare --engine mpi`: rivals on ranks.
#include <nlohmann/json.hpp>

#include "mpi/mpi_app.hpp"

namespace dasgd::test {
namespace {

using nlohmann::json;

class MpiCompare : public MpiApp {
 protected:
  json result() { return json::parse(read_text(out() + "/compare.json")); }
  const std::string small =
      "compare --engine mpi --model quadratic --compute 2ms --lr 0.02 --seeds 1 "
      "--target-loss 0.1 ";
};

TEST_F(MpiCompare, RunsOnRanksBesideThePrediction) {
  const Outcome outcome = mpirun(
      3, small + "--workers 3 --rivals dasgd,minibatch,local-sgd:H=2,asgd,rennala,swift --out " +
             out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(result()["engine"], "mpi");
  ASSERT_EQ(result()["rows"].size(), 6u);
  const json written = result();
  for (const json& row : written["rows"]) {
    EXPECT_GT(row["predicted_median"].get<double>(), 0) << row["rival"];
    EXPECT_TRUE(row["gradients_used"].is_number()) << row["rival"];  // few on a starved machine
  }
}

TEST_F(MpiCompare, ARankMayHaveSeveralWorkers) {
  const Outcome outcome =
      mpirun(2, small + "--workers 4 --rivals minibatch,asgd,d-psgd --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(result()["rows"].size(), 3u);
}

TEST_F(MpiCompare, AMistakeIsReportedOnceAndEndsAllRanks) {
  const Outcome outcome =
      mpirun(2, small + "--workers 2 --world thin-nic --rivals asgd --out " + out());
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("only clocks can be set for real"), outcome.err.npos);
}

// Open MPI passes SIGUSR1 on at once, and Ctrl-C only after its own time limit.
TEST_F(MpiCompare, GoesOnAfterASignal) {
  const std::string arguments =
      "compare --engine mpi --model quadratic --workers 2 --compute 5ms --target-loss -5 "
      "--max-time 500ms --rivals dasgd,asgd --lr 0.001 --seeds 3 --out " +
      out();
  const Process process(command(2, arguments));
  const auto journal = [&] { return read_text(out() + "/journal.jsonl"); };
  ASSERT_TRUE(eventually([&] { return journal().find("|mpi\"") != std::string::npos; }));
  process.signal(SIGUSR1);
  const Outcome stopped = process.wait();  // Open MPI's own status is 1, MPICH's is ours or 0
  EXPECT_THAT(stopped.err, ::testing::HasSubstr("the same command continues"));
  const std::string kept = journal();
  const Outcome resumed = mpirun(2, arguments);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(journal(), ::testing::StartsWith(kept));
  EXPECT_EQ(result()["rows"].size(), 2u);
}

}  // namespace
}  // namespace dasgd::test
