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
  for (const char* broken : {"2>/dev/full", "2>&-", "<&-", "<&- 2>&-"}) {
    EXPECT_EQ(run("", broken).status, 0) << broken;
    expect_whole_run(broken);
  }
}

TEST_F(Streams, AResultThatCannotBePrintedIsAFailureAfterEverythingIsSaved) {
  for (const std::string broken :
       {">/dev/full", ">&-", "<&- >&-", ">/dev/full 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full",
        "| true; exit ${PIPESTATUS[0]}"})
    for (const std::string options : {"", "--json"}) {
      const bool races = broken.starts_with("|");  // a reader that goes may yet be there
      const Outcome outcome = run(options, broken);
      if (!races) EXPECT_EQ(outcome.status, 1) << options << broken;
      if (!races && broken.find("2>") == broken.npos)
        EXPECT_EQ(outcome.err, "dasgd: standard output cannot be written\n") << options << broken;
      expect_whole_run(broken);
    }
}

TEST_F(Streams, AQuietRunHasNothingToPrint) {
  for (const char* broken : {">/dev/full", ">&-"}) {
    EXPECT_EQ(run("--quiet", broken).status, 0) << broken;
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
  for (const std::string broken : {" 2>/dev/full", " >/dev/full", " <&- 2>&-", " >&-",
                                   " --crash 1:1ms >/dev/full", " --quiet >/dev/full"}) {
    const bool says_nothing = broken.find(" >") == broken.npos || broken.starts_with(" --quiet");
    EXPECT_EQ(dasgd("simulate --model quadratic --gradients 20 --out " + out() + broken).status,
              says_nothing ? 0 : 1)
        << broken;
    EXPECT_TRUE(fs::exists(out() + "/summary.json")) << broken;
    fs::remove_all(out());
  }
  EXPECT_EQ(
      dasgd("simulate --model quadratic --gradients 20 --json --out " + out() + " >&-").status, 1);
  EXPECT_TRUE(fs::exists(out() + "/summary.json"));
}

}  // namespace
}  // namespace dasgd::test
