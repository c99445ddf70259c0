// `dasgd compare` with rivals of one's own from a shared object.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class OwnRival : public App {
 protected:
  const std::string library = DASGD_RIVAL_LIBRARY;
  const std::string small = "compare --model quadratic --workers 4 --quick ";

  json rows() { return json::parse(read_text(out() + "/compare.json")).at("rows"); }
  std::set<std::string> rivals() {
    std::set<std::string> names;
    for (const json& row : rows()) names.insert(row["rival"]);
    return names;
  }
  /// Lines of the journal that begin with such a rival.
  long runs_of(const std::string& rival) {
    std::istringstream journal(read_text(out() + "/journal.jsonl"));
    long runs = 0;
    for (std::string line; std::getline(journal, line);)
      runs += line.starts_with("{\"name\":\"" + rival + "|");
    return runs;
  }
};

TEST_F(OwnRival, OfASharedObjectIsTunedJudgedAndPlottedLikeTheOthers) {
  const Outcome outcome = dasgd(small + "--rivals dasgd,minibatch,token --rival-library " +
                                library + " --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("token"));
  for (const json& row : rows())
    if (row["rival"] == "token") {
      EXPECT_GE(row["tuning_runs"], 3);
      EXPECT_NE(row["verdict"], "not reached");
      EXPECT_TRUE(row["S_avg"].is_number());
    }
  EXPECT_EQ(rivals(), (std::set<std::string>{"dasgd", "minibatch", "token"}));
  for (const char* file : {"compare.html", "compare.csv", "curves.csv", "loss_1.svg", "rounds.svg"})
    EXPECT_THAT(read_text(out() + "/" + file), HasSubstr("token")) << file;
  const long runs = runs_of("token");
  const Outcome again = dasgd("compare " + out() + "/config.toml --out " + out());
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(runs_of("token"), runs) << "a finished comparison is not run again";
}

TEST_F(OwnRival, TakesPartWhereNobodyIsNamedAndIsListed) {
  const Outcome list = dasgd("compare --list --rival-library " + library);
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("token\n    a token with the model goes round"),
                              HasSubstr("minibatch")));
  const Outcome outcome =
      dasgd(small + "--lr 0.01 --seeds 1 --rival-library " + library + " --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(rivals(), AllOf(::testing::Contains("token"), ::testing::Contains("diloco")));
}

TEST_F(OwnRival, RunsOnRealThreads) {
  const Outcome outcome = dasgd(small +
                                "--rivals minibatch,token --lr 0.02 --seeds 1 --engine "
                                "threads --compute 1ms --target-loss 50 --rival-library " +
                                library + " --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(rivals(), (std::set<std::string>{"minibatch", "token"}));
}

TEST_F(OwnRival, OfAnotherEditionIsRunAnewAndOthersAreNot) {
  const std::string mine = directory.file("mine.so");
  const std::string command =
      small + "--rivals minibatch,token --lr 0.01 --rival-library " + mine + " --out " + out();
  fs::copy_file(library, mine);
  ASSERT_EQ(dasgd(command).status, 0);
  const long others = runs_of("minibatch"), own = runs_of("token");
  std::ofstream(mine, std::ios::app) << "another edition";
  ASSERT_EQ(dasgd(command).status, 0);
  EXPECT_EQ(runs_of("minibatch"), others);
  EXPECT_EQ(runs_of("token"), 2 * own);
}

TEST_F(OwnRival, ALibraryThatIsNoneIsRefusedInOneLine) {
  const auto refused = [&](const std::string& file, const std::string& why) {
    const Outcome outcome = dasgd(small + "--rival-library " + file + " --out " + out());
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--rival-library " + file), HasSubstr(why)));
    EXPECT_FALSE(fs::exists(out()));
  };
  directory.write("text.so", "not a library");
  directory.write("half.so", read_text(library).substr(0, 2000));
  refused(directory.file("none.so"), "no such file");
  refused(directory.path(), "is not a file");
  refused(directory.file("text.so"), "is not a shared object");
  directory.write("odd.so",
                  "\x7f"
                  "ELF" +
                      read_text(library).substr(4, 60));
  refused(directory.file("odd.so"), "is a truncated shared object");
  refused(directory.file("half.so"), "is a truncated shared object");
  refused(DASGD_ANOTHER_DAY, "has no rivals: DASGD_RIVALS");
  refused(DASGD_ANOTHER_BUILD, "another build of dasgd (0.0.1 of long ago; this one is");
  expect_refusal(
      small + "--rival-library " + library + " --rival-library " + library + " --out " + out(),
      "there is a rival token already");
  expect_refusal(small + "--rivals tokn --rival-library " + library + " --out " + out(),
                 "did you mean \"token\"?");
}

}  // namespace
}  // namespace dasgd::test
