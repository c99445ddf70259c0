// The page of `dasgd compare`, its files for a paper, and the commands that read them.
#include <fmt/format.h>
#include <fstream>

#include "app/compare.hpp"

namespace dasgd::test {
namespace {

TEST_F(Compare, APaperGetsPanelsATableAndARecordAndNothingIsRunAgain) {
  const std::string command = small + "--rivals dasgd,minibatch,asgd --out " + out();
  const Outcome first = dasgd(command);
  ASSERT_EQ(first.status, 0);
  EXPECT_THAT(first.out, HasSubstr("  reference "));
  const std::string table = read_text(out() + "/compare.csv");
  const Outcome again =
      dasgd(command + " --paper " + out("paper") + " --paper-width 60 --paper-font 7");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("runs are finished already"));
  EXPECT_EQ(read_text(out() + "/compare.csv"), table);
  for (const char* name : {"loss_1_a.svg", "loss_1_a.pdf", "map.pdf", "rounds.pdf", "table.csv"})
    EXPECT_TRUE(fs::exists(out("paper") + "/" + name)) << name;
  for (const char* name : {"loss_1_a.pdf", "map.pdf", "rounds.pdf"})  // 60 mm
    EXPECT_THAT(read_text(out("paper") + "/" + name), HasSubstr("/MediaBox [0 0 170.08 ")) << name;
  for (const char* name : {"loss_1_a.svg", "map.svg", "rounds.svg"})
    EXPECT_THAT(read_text(out("paper") + "/" + name), HasSubstr(" width=\"60.00mm\"")) << name;
  EXPECT_EQ(read_text(out("paper") + "/config.toml"), read_text(out() + "/config.toml"));
  EXPECT_THAT(read_text(out("paper") + "/table.tex"),
              AllOf(HasSubstr("\\begin{tabular}"), HasSubstr("\\label{tab:compare}"),
                    ContainsRegex("quadratic with 4 workers: [^\n]*3 seeds")));
  for (const char* name : {"map.svg", "rounds.svg", "loss_1_a.svg"}) {  // letters are 12 high
    const std::string svg = read_text(out("paper") + "/" + name), before = "viewBox=\"0 0 ";
    EXPECT_NEAR(std::stod(svg.substr(svg.find(before) + before.size())), 60 / 25.4 * 72 * 12 / 7, 1)
        << name;
  }
  EXPECT_THAT(read_text(out("paper") + "/record.txt"),
              AllOf(HasSubstr("command: dasgd " + small), HasSubstr("@software{dasgd"),
                    ContainsRegex("\ndate: 20[0-9-]+\n"), ContainsRegex("year = \\{20[0-9]+\\}"),
                    HasSubstr("\nseeds: 3 (1 to 3)\n"),
                    HasSubstr("\ntuning: 5 step sizes, 1 seed each (quick)\n")));
  const std::string record = read_text(out("paper") + "/record.txt");
  EXPECT_EQ(record.find("seeds: "), record.rfind("\nseeds: ") + 1);
  EXPECT_THAT(read_text(out() + "/config.toml"), ::testing::Not(HasSubstr("paper")));
}

TEST_F(Compare, ThePageSaysWhatWasTypedAndWhen) {
  const std::string command = small + "--rivals dasgd,minibatch,asgd --out '" + out() + "'";
  ASSERT_EQ(dasgd(command).status, 0);
  const std::string page = read_text(out() + "/compare.html");
  const json first = json::parse(read_text(out() + "/journal.jsonl")
                                     .substr(0, read_text(out() + "/journal.jsonl").find('\n')));
  const std::string date = first.at("date");
  EXPECT_THAT(date, ::testing::MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]"));
  EXPECT_THAT(page, AllOf(HasSubstr("[\"date\",\"" + date + "\"]"),
                          HasSubstr("[\"command\",\"dasgd " + small + "--rivals "),
                          HasSubstr("\"samples/s\"")));
  const double goal = std::stod(result()["goal"].get<std::string>().substr(13));
  EXPECT_THAT(page, HasSubstr(fmt::format("loss at most {:.3g}\"", goal)));
  EXPECT_THAT(page, ::testing::Not(HasSubstr(result()["goal"].get<std::string>())));
  const Outcome again = shell("env LD_PRELOAD=" DASGD_ANOTHER_DAY " " + this->command(command));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(read_text(out() + "/compare.html"), page) << "the day when it was made, not this one";
}

TEST_F(Compare, AJournalWithoutADateIsReadToo) {
  const std::string command = small + "--rivals dasgd,minibatch --out " + out();
  ASSERT_EQ(dasgd(command).status, 0);
  std::string journal = read_text(out() + "/journal.jsonl");
  const std::size_t at = journal.find(",\"date\"");
  ASSERT_NE(at, journal.npos);
  journal.erase(at, journal.find('}', at) - at);
  std::ofstream(out() + "/journal.jsonl") << journal;
  const Outcome again = dasgd(command);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("runs are finished already"));
  EXPECT_THAT(read_text(out() + "/compare.html"), ::testing::Not(HasSubstr("[\"date\"")));
}

TEST_F(Compare, ReportAndExportTakeTheDirectoryOfAComparison) {
  ASSERT_EQ(dasgd(small + "--rivals dasgd,minibatch --out " + out()).status, 0);
  const Outcome report = dasgd("report " + out());
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr(out() + "/map.svg\n"));
  const Outcome text = dasgd("report --text " + out());
  EXPECT_THAT(text.out, AllOf(HasSubstr("minibatch"), HasSubstr("equal: ")));
  EXPECT_THAT(text.out, ContainsRegex("dasgd +[^\n]* reference\n"));
  const Outcome exported = dasgd("export " + out() + " --out " + out("tables"));
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(read_text(out("tables") + "/runs.csv"), read_text(out() + "/compare.csv"));
  EXPECT_EQ(read_text(out("tables") + "/metrics.csv"), read_text(out() + "/curves.csv"));
}

TEST_F(Compare, NamesOfWorldsAreJoinedIntoAMap) {
  ASSERT_EQ(dasgd(small +
                  "--rivals dasgd,minibatch --world straggler:1+latency:0 --world "
                  "straggler:8+latency:0 --world straggler:1+latency:2 --world "
                  "straggler:8+latency:2 --out " +
                  out())
                .status,
            0);
  EXPECT_EQ(result()["worlds"].size(), 4u);
  EXPECT_THAT(read_text(out() + "/winners.svg"),
              AllOf(HasSubstr("8 times"), HasSubstr("2 gradients")));
}

TEST_F(Compare, AFileThatGivesAKeyTwiceIsNotWhatItWrites) {
  fs::create_directories(out("twice"));
  directory.write("twice/compare.csv", "");
  directory.write("twice/compare.json", R"({"rows": [], "rows": [], "worlds": []})");
  expect_refusal("report --text " + out("twice"), "a key is given twice");
}

TEST_F(Compare, WithoutThePapersRowTheFirstVariantIsTheReference) {
  const Outcome outcome = dasgd(
      small + "--rivals dasgd:look_ahead=1,dasgd:look_ahead=0,asgd --world equal --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json all = result();
  for (const json& row : all["rows"])
    EXPECT_EQ(row["reference"].get<bool>(), row["rival"] == "dasgd:look_ahead=1") << row["rival"];
  EXPECT_THAT(read_text(out() + "/map.svg"), HasSubstr("dasgd:look_ahead=1 (reference)"));
  EXPECT_THAT(dasgd("report --text " + out()).out, ContainsRegex("dasgd:look_ahead=1 .*reference"));
}

}  // namespace
}  // namespace dasgd::test
