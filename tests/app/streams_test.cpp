// The program where its terminal, pipes and disks are not what they should be.
#include <fstream>
#include <string>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class Streams : public App {
 protected:
  Outcome run(const std::string& options, const std::string& redirections) {
    return shell("bash -c '" +
                 command("train --model quadratic --lr 1e-4 --gradients 2000 --out ") + out() +
                 " " + options + " " + redirections + "'");
  }
  /// Everything is there, and nothing in it that belongs elsewhere.
  void expect_whole_run(const std::string& how) {
    EXPECT_TRUE(fs::exists(out() + "/summary.json")) << how;
    EXPECT_TRUE(fs::exists(out() + "/model.npy")) << how;
    std::ifstream metrics(out() + "/metrics.jsonl");
    for (std::string line; std::getline(metrics, line);)
      EXPECT_TRUE(json::accept(line)) << how << ": " << line;
    fs::remove_all(out());
  }
};

TEST_F(Streams, ARunOutlivesWhoeverReadsIt) {
  for (const char* pipe : {"2>&1 | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}",
                           "2>&1 | true; exit ${PIPESTATUS[0]}", "| true; exit ${PIPESTATUS[0]}"}) {
    EXPECT_EQ(run("--slow 0:2", pipe).status, 0) << pipe;
    expect_whole_run(pipe);
  }
}

TEST_F(Streams, ProgressThatCannotBePrintedIsNoFailure) {
  for (const char* broken : {"2>/dev/full", "2>&-", ">&-", ">/dev/full", "<&-", "<&- 2>&-",
                             ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full"}) {
    EXPECT_EQ(run("", broken).status, 0) << broken;
    expect_whole_run(broken);
  }
}

TEST_F(Streams, AResultThatCannotBePrintedIsAFailureAfterEverythingIsSaved) {
  for (const std::string broken :
       {">/dev/full", ">&-", "<&- >&-", ">/dev/full 2>&-", "| true; exit ${PIPESTATUS[0]}"}) {
    const bool races = broken.starts_with("|");  // a reader that goes may yet be there
    const Outcome outcome = run("--json", broken);
    if (!races) EXPECT_EQ(outcome.status, 1) << broken;
    if (!races && broken.find("2>") == broken.npos)
      EXPECT_EQ(outcome.err, "dasgd: standard output cannot be written\n") << broken;
    expect_whole_run(broken);
  }
}

TEST_F(Streams, AMistakeHasItsStatusWhereItCannotBeTold) {
  for (const char* broken : {" 2>/dev/full", " 2>&-", " >&- 2>&-"}) {
    EXPECT_EQ(dasgd("train --wrokers 3" + std::string(broken)).status, 2) << broken;
    EXPECT_EQ(dasgd("check /no/such/trace" + std::string(broken)).status, 2) << broken;
  }
  for (const char* asks : {"--help", "data list", "train --help"})
    EXPECT_EQ(dasgd(std::string(asks) + " >/dev/full").status, 1) << asks;
}

TEST_F(Streams, ASimulationOutlivesThemToo) {
  for (const char* broken :
       {" 2>/dev/full", " >/dev/full", " <&- 2>&-", " --crash 1:1ms >/dev/full"}) {
    EXPECT_EQ(dasgd("simulate --model quadratic --gradients 20 --out " + out() + broken).status, 0);
    EXPECT_TRUE(fs::exists(out() + "/summary.json")) << broken;
    fs::remove_all(out());
  }
  EXPECT_EQ(
      dasgd("simulate --model quadratic --gradients 20 --json --out " + out() + " >&-").status, 1);
  EXPECT_TRUE(fs::exists(out() + "/summary.json"));
}

}  // namespace
}  // namespace dasgd::test
