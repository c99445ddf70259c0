// `dasgd compare` as people use it.
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class Compare : public App {
 protected:
  /// compare.csv, a map per line.
  std::vector<std::map<std::string, std::string>> rows() { return rows(out()); }
  std::vector<std::map<std::string, std::string>> rows(const std::string& directory) {
    std::istringstream text(read_text(directory + "/compare.csv"));
    std::vector<std::map<std::string, std::string>> all;
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);) {
      std::vector<std::string> cells;
      std::istringstream parts(line + ",");
      for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
      if (names.empty()) {
        names = cells;
        continue;
      }
      auto& row = all.emplace_back();
      for (std::size_t k = 0; k < names.size(); ++k) row[names[k]] = cells.at(k);
    }
    return all;
  }
  json result() { return json::parse(read_text(out() + "/compare.json")); }
  const std::string small = "compare --model quadratic --workers 4 --quick ";
};

TEST_F(Compare, ListsRivalsAndWorlds) {
  const Outcome outcome = dasgd("compare --list");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name :
       {"dasgd",   "minibatch",  "asgd",        "delay-adaptive", "ringmaster", "rennala",
        "fedbuff", "d-psgd",     "ad-psgd",     "swift",          "local-sgd",  "diloco",
        "sgp",     "ssp",        "easgd",       "fragile",        "eager",      "sparseloco",
        "proved:", "exchanges:", "straggler:X", "birch:1..4"})
    EXPECT_THAT(outcome.out, HasSubstr(name));
}

TEST_F(Compare, RunsEverybodyAndWritesEverything) {
  const Outcome outcome =
      dasgd(small + "--rivals all --world equal --world straggler:10 --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("equal: "), HasSubstr("straggler:10: ")));
  EXPECT_EQ(rows().size() % 6, 0u);
  EXPECT_THAT(read_text(out() + "/compare.csv"),
              ::testing::StartsWith(
                  "rival,world,seed,eta,tuned,reached,time_s,gradients_used,gradients_wasted,"
                  "samples,S_avg,S_max,messages,bytes_total,bytes_busiest_node,idle_share,"
                  "consensus,loss_mean,loss_worst,accuracy_mean,accuracy_worst\n"));
  EXPECT_THAT(read_text(out() + "/curves.csv"),
              ::testing::StartsWith(
                  "rival,world,seed,time_s,gradients,bytes,loss_mean,accuracy_mean,consensus\n"));
  const json all = result();
  EXPECT_EQ(all["rows"].size(), rows().size() / 3);
  for (const json& row : all["rows"])
    EXPECT_THAT((std::vector<std::string>{"faster", "slower", "no difference shown", "not reached",
                                          "not tuned"}),
                ::testing::Contains(row["verdict"].get<std::string>()));
  ASSERT_EQ(all["worlds"].size(), 2u);
  for (const char* file :
       {"compare.html", "map.svg", "loss_1.svg", "loss_2.svg", "eta.svg", "costs.svg",
        "profile.svg", "rounds_1.svg", "rounds_2.svg", "journal.jsonl"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  EXPECT_THAT(read_text(out() + "/compare.html"), HasSubstr("Who wins where"));
  for (const json& row : all["rows"])
    for (const char* key : {"median", "interval", "ratio", "ratio_interval", "wins", "verdict",
                            "rival", "world", "samples_per_s", "samples_wasted_per_s",
                            "bytes_total", "limits", "untuned_median", "tuning_runs"})
      EXPECT_TRUE(row.contains(key)) << key;
  for (const json& row : all["rows"]) EXPECT_GE(row["memory_models"], 1.5) << row["rival"];
}

TEST_F(Compare, TakesTheCommandOfItsContract) {
  std::ofstream(out("base.toml")) << "model = \"quadratic\"\nworkers = 4\n";
  const Outcome outcome =
      dasgd("compare " + out("base.toml") +
            " --rivals dasgd,minibatch,minibatch:backup=2,asgd,delay-adaptive,ringmaster:R=8,"
            "rennala:B=8,fedbuff:K=10,d-psgd,ad-psgd,swift,local-sgd:H=8,diloco:H=20 --world equal "
            "--seeds 1 --tune off --lr 0.02 --lr diloco=0.01 --target-loss 0.1 --max-time 5s "
            "--nic 1e6 --preempt --engine sim --json --out " +
            out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json printed = json::parse(outcome.out);
  EXPECT_EQ(printed, result());
  EXPECT_EQ(printed["rows"].size(), 13u);
  EXPECT_EQ(printed["rows"][2]["rival"], "minibatch:backup=2");
  EXPECT_EQ(printed["rows"][12]["eta"], 0.01);
}

TEST_F(Compare, RunsOnRealThreadsBesideThePrediction) {
  const Outcome outcome = dasgd(
      "compare --model quadratic --workers 3 --rivals dasgd,minibatch,asgd,hogwild --engine "
      "threads --compute 2ms --tune off --lr 0.02 --seeds 1 --target-loss 0.1 --out " +
      out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("real and predicted"));
  EXPECT_EQ(rows().size(), 4u);
  EXPECT_EQ(result()["engine"], "threads");
  const json written = result();
  for (const json& row : written["rows"]) {
    EXPECT_GT(row["predicted_median"].get<double>(), 0) << row["rival"];
    EXPECT_TRUE(row.contains("real_over_predicted"));
  }
  EXPECT_TRUE(fs::exists(out() + "/predicted.csv"));
  EXPECT_THAT(outcome.out, HasSubstr("numbers were overwritten while others added to them"));
}

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

TEST_F(Compare, SameSeedSameBytesWhateverTheThreads) {
  const std::string rest = "--rivals dasgd,asgd,swift --world lognormal:0.5 --seeds 4 --out ";
  ASSERT_EQ(dasgd(small + rest + out("a") + " --threads 1").status, 0);
  ASSERT_EQ(dasgd(small + rest + out("b") + " --threads 3").status, 0);
  for (const char* file : {"compare.csv", "curves.csv", "compare.json"})
    EXPECT_EQ(read_text(out("a") + "/" + file), read_text(out("b") + "/" + file)) << file;
}

TEST_F(Compare, RowsOfDasgdAreThoseOfSimulate) {
  for (const std::string ahead : {"off", "1"}) {
    const std::string run =
        "--model logistic --batch 8 --workers 5 --topology ring --slow 2:3 --nic 1e5 "
        "--total-gradients 200 --compute lognormal:10ms:0.4 --seed 3 ";
    ASSERT_EQ(
        dasgd("compare " + run + "--rivals dasgd" + (ahead == "off" ? "" : ":look_ahead=" + ahead) +
              " --seeds 1 --tune off --lr 0.02 --target-loss 1e-9 --max-time 1h --out " +
              out("compare" + ahead))
            .status,
        0);
    const auto row = rows(out("compare" + ahead)).at(0);
    const std::string sim = out("sim" + ahead);
    ASSERT_EQ(dasgd("simulate " + run + "--lr 0.02 --look-ahead " + ahead + " --out " + sim).status,
              0);
    const json simulated = json::parse(read_text(sim + "/summary.json"));
    // Of the same model; an evaluation adds the samples' losses in another order.
    EXPECT_DOUBLE_EQ(std::stod(row.at("loss_mean")), simulated["loss"].get<double>());
    EXPECT_EQ(std::stod(row.at("S_avg")), simulated["S_avg"].get<double>());
    EXPECT_EQ(std::stod(row.at("S_max")), simulated["S_max"].get<double>());
    EXPECT_EQ(std::stod(row.at("time_s")), simulated["virtual_seconds"].get<double>());
    EXPECT_EQ(row.at("gradients_used"), simulated["gradients"].dump());
    EXPECT_EQ(row.at("samples"), simulated["samples"].dump());
    std::uint64_t bytes = 0, messages = 0;
    for (const auto& b : simulated["bytes_sent"]) bytes += b.get<std::uint64_t>();
    for (const auto& m : simulated["messages_sent"]) messages += m.get<std::uint64_t>();
    EXPECT_EQ(row.at("bytes_total"), std::to_string(bytes));
    EXPECT_EQ(row.at("messages"), std::to_string(messages));
    EXPECT_EQ(row.at("consensus"), "0");
  }
}

TEST_F(Compare, AStragglerHoldsUpWhoeverWaitsAndAThinCardWhoeverBroadcasts) {
  ASSERT_EQ(dasgd("compare --model quadratic --workers 8 --rivals dasgd,minibatch,local-sgd "
                  "--world straggler:10 --world thin-nic --seeds 3 --target-loss 0.02 --out " +
                  out())
                .status,
            0);
  std::map<std::pair<std::string, std::string>, json> found;
  const json all = result();
  for (const json& row : all["rows"])
    found[{row["rival"].get<std::string>(), row["world"].get<std::string>()}] = row;
  EXPECT_EQ((found[{"minibatch", "straggler:10"}]["verdict"]), "slower");
  EXPECT_GT((found[{"minibatch", "straggler:10"}]["idle_share"].get<double>()), 0.5);
  EXPECT_EQ((found[{"local-sgd", "thin-nic"}]["verdict"]), "faster");
  EXPECT_EQ(result()["worlds"][1]["dasgd_loses"], true);
  EXPECT_THAT(result()["worlds"][1]["sentence"].get<std::string>(), HasSubstr("DASGD loses"));
}

TEST_F(Compare, SaysWhatItDoesNotKnow) {
  expect_refusal("compare --rivals asdg --out " + out(), "did you mean \"asgd\"?");
  expect_refusal("compare --rivals rennala:C=3 --out " + out(), "rennala has no parameter \"C\"");
  expect_refusal("compare --rivals rennala:B=x --out " + out(), "B = x is not a number");
  expect_refusal("compare --rivals rennala:B=1.5 --out " + out(), "is not a whole number");
  expect_refusal("compare --rivals minibatch:backup --out " + out(), "needs a value");
  expect_refusal("compare --rivals dasgd:relay=aply --out " + out(), "did you mean \"apply\"?");
  expect_refusal("compare --model quadratic --world stragler:3 --out " + out(),
                 "did you mean \"straggler\"?");
  expect_refusal("compare --model quadratic --world straggler --out " + out(),
                 "write it like straggler:10");
  expect_refusal("compare --model quadratic --world equal+stragler:2 --out " + out(),
                 "did you mean \"straggler\"?");
  expect_refusal("compare --model quadratic --engine thread --out " + out(),
                 "did you mean \"threads\"?");
  expect_refusal("compare --model quadratic --engine threads --world thin-nic --out " + out(),
                 "world thin-nic: only clocks can be set for real");
  expect_refusal("compare --model quadratic --world birch:7 --out " + out(), "birch:1, 2, 3 and 4");
  expect_refusal("compare --model quadratic --world no.toml --out " + out(), "is not a file");
  expect_refusal("compare --model quadratic --rivals asgd --lr swift=0.1 --out " + out(),
                 "swift is not among the rivals");
  expect_refusal("compare --model quadratic --lr asgd=fast --out " + out(), "--lr asgd=fast");
  expect_refusal("compare --model quadratic --target-loss 1 --target-error 1 --out " + out(),
                 "give one of");
  expect_refusal(
      "compare --model quadratic --topology directed-ring --workers 4 --rivals d-psgd "
      "--out " +
          out(),
      "d-psgd needs links that go both ways");
  expect_refusal("compare --model quadratic --rule momentum --out " + out(), "plain SGD only");
}

TEST_F(Compare, RefusesSizesThatNoPaperHas) {
  const std::string paper = small + "--paper " + out("paper") + " --out " + out();
  expect_refusal(paper + " --paper-width 3", "--paper-width");
  expect_refusal(paper + " --paper-width 3", "3 is not between 20 and 400 mm");
  expect_refusal(paper + " --paper-font 900", "900 is not between 4 and 24 points");
  expect_refusal(paper + " --paper-width 40 --paper-font 20", "at least 100 mm");
  EXPECT_FALSE(fs::exists(out("paper")));
}

TEST_F(Compare, SaysWhatPairsDoOnAnOddRing) {
  const Outcome outcome = dasgd(
      "compare --model quadratic --workers 5 --topology ring --rivals "
      "dasgd,ad-psgd --quick --out " +
      out());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("1 of the 5 links"));
}

TEST_F(Compare, ATargetThatNobodyReachesIsNoFailure) {
  const Outcome outcome = dasgd(small +
                                "--rivals dasgd,minibatch --target-loss -5 --max-time 1s "
                                "--out " +
                                out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("no method reaches the goal"), HasSubstr(">= 1")));
  const json written = result();
  for (const json& row : written["rows"]) {
    EXPECT_EQ(row["verdict"], "not reached");
    EXPECT_TRUE(row["median"].is_null());
  }
}

TEST_F(Compare, WhatArrivesAfterTheTimeIsOverDoesNotCount) {
  ASSERT_EQ(dasgd(small +
                  "--rivals dasgd,asgd --world thin-nic --lr 0.001 --target-loss -5 "
                  "--max-time 1s --out " +
                  out())
                .status,
            0);
  for (const auto& row : rows()) EXPECT_EQ(row.at("time_s"), "1") << row.at("rival");
}

TEST_F(Compare, AWorldIsAlsoAFile) {
  std::ofstream(out("slow.toml")) << "[pace]\nslow = [\"0:4\"]\nlatency = \"5ms\"\n";
  const Outcome outcome = dasgd(small + "--rivals dasgd,minibatch --world " + out("slow.toml") +
                                " --world equal --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(std::stod(rows()[3].at("time_s")), std::stod(rows()[9].at("time_s")));
}

TEST_F(Compare, TakesTheConfigOfARun) {
  const std::string run = "train --model logistic --workers 2 --quiet --no-report ";
  const std::string contest = "/config.toml --quick --rivals dasgd,minibatch --out ";
  ASSERT_EQ(dasgd(run + "--epochs 1 --out " + out("fixed")).status, 0);
  const Outcome outcome = dasgd("compare " + out("fixed") + contest + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(rows().size(), 6u);
  ASSERT_EQ(dasgd(run + "--gradients 300 --lr auto --batch 8 --out " + out("auto")).status, 0);
  const std::string cooled = "compare " + out("auto") + contest + out("cooled");
  const Outcome refused = dasgd(cooled);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("plain SGD only: --schedule constant instead of cooldown"));
  EXPECT_EQ(dasgd(cooled + " --schedule constant").status, 0);
}

TEST_F(Compare, GoesOnAfterCtrlC) {
  const std::string arguments =
      "compare --model quadratic --workers 8 --target-loss 0 --max-time 200s --rivals "
      "dasgd,asgd,minibatch --tune off --lr 0.001 --seeds 4 --threads 2 --out ";
  // Ctrl-C comes once a run is finished.
  const Outcome stopped =
      shell(command(arguments + out()) +
            " & pid=$!; for i in $(seq 600); do "
            "[ $(wc -l < " +
            out() +
            "/journal.jsonl 2>/dev/null || echo 0) -gt 2 ] && break; sleep 0.1; "
            "done; kill -INT $pid; wait $pid");
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("the same command continues"));
  EXPECT_THAT(stopped.err, ::testing::Not(HasSubstr("stopping:")));  // one line is enough
  EXPECT_FALSE(fs::exists(out() + "/compare.csv"));
  std::ofstream(out() + "/journal.jsonl", std::ios::app) << "{\"name\": \"half of a li";
  const Outcome resumed = dasgd(arguments + out());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming"));
  ASSERT_EQ(dasgd(arguments + out("whole")).status, 0);
  EXPECT_EQ(read_text(out() + "/compare.csv"), read_text(out("whole") + "/compare.csv"));
  EXPECT_EQ(read_text(out() + "/compare.json"), read_text(out("whole") + "/compare.json"));
  // Another comparison does not go there.
  const Outcome other = dasgd("compare --model quadratic --rivals dasgd --out " + out());
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("is of another comparison"));
}

TEST_F(Compare, ARealContestGoesOnAfterCtrlC) {
  const std::string arguments =
      "compare --engine threads --model quadratic --workers 2 --compute 5ms --target-loss -5 "
      "--max-time 500ms --rivals dasgd,minibatch --tune off --lr 0.001 --seeds 2 --out " +
      out();
  const Process process(command(arguments));
  const auto journal = [&] { return read_text(out() + "/journal.jsonl"); };
  ASSERT_TRUE(eventually([&] { return journal().find("|threads\"") != std::string::npos; }));
  process.signal(SIGINT);
  const Outcome stopped = process.wait();
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("the same command continues"));
  const std::string kept = journal();
  const Outcome resumed = dasgd(arguments);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming"));
  EXPECT_THAT(journal(), ::testing::StartsWith(kept));
  EXPECT_EQ(rows().size(), 4u);
}

}  // namespace
}  // namespace dasgd::test
