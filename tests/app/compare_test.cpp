// `dasgd compare` as people use it.
#include "app/compare.hpp"

#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <fstream>

namespace dasgd::test {
namespace {

TEST_F(Compare, ListsRivalsAndWorlds) {
  const Outcome outcome = dasgd("compare --list");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name :
       {"dasgd",   "minibatch",  "asgd",        "delay-adaptive", "ringmaster", "rennala",
        "fedbuff", "d-psgd",     "ad-psgd",     "swift",          "local-sgd",  "diloco",
        "sgp",     "ssp",        "easgd",       "fragile",        "eager",      "sparseloco",
        "proved:", "exchanges:", "straggler:X", "birch:1..4"})
    EXPECT_THAT(outcome.out, HasSubstr(name));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("    look_ahead: where workers compute"),
                                 Not(HasSubstr("look_ahead = ")), HasSubstr("    tau = 0: ")));
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
  expect_refusal("compare --model quadratic --lr dasgd=proved --out " + out(),
                 "takes a number here; without --lr it tunes, and dasgd advise prints a proved");
  expect_refusal("compare --model quadratic --target-loss 1 --target-error 1 --out " + out(),
                 "give one of");
  expect_refusal(
      "compare --model quadratic --topology directed-ring --workers 4 --rivals d-psgd "
      "--out " +
          out(),
      "d-psgd needs links that go both ways");
  expect_refusal("compare --model quadratic --rule momentum --out " + out(), "plain SGD only");
}

TEST_F(Compare, OffersOnlyWhatItHeeds) {
  const std::string help = dasgd("compare --help").out;
  for (const char* const option :
       {"--trace", "--patience", "--on-divergence", "--measure-gradients", "--L "}) {
    EXPECT_THAT(help, Not(HasSubstr(std::string("\n  ") + option))) << help;
    expect_refusal("compare --model quadratic " + std::string(option) + " --out " + out(), option);
  }
  const std::size_t apart = help.find("Belong to rows, like dasgd:rule=adam");
  ASSERT_NE(apart, help.npos) << help;
  for (const char* const option : {"--rule", "--momentum", "--schedule", "--look-ahead"})
    EXPECT_GT(help.find(std::string("\n  ") + option), apart) << option;
  EXPECT_LT(help.find("\n  --rivals"), apart);
  expect_refusal("compare --out " + out() + " --rule", "--rule needs a value");
  expect_refusal("compare --rule adam --model quadratic --out " + out(),
                 "a row has its own rule, like dasgd:rule=adam");
}

// A guard that halves steps is of DASGD alone, so that rivals would not be judged like it.
TEST_F(Compare, HeedsNoGuardOfARun) {
  const std::string contest =
      "compare --model quadratic --workers 4 --rivals dasgd --lr 0.14 --tune off --eval-every 10s "
      "--max-time 200s --seeds 1 ";
  std::ofstream(out("stop.toml")) << "[guard]\non_divergence = \"stop\"\n";
  std::ofstream(out("halve.toml")) << "[guard]\non_divergence = \"halve\"\n";
  for (const char* const world : {"stop.toml", "halve.toml"}) {
    const Outcome outcome = dasgd(contest + "--world " + out(world) + " --out " + out() + world);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("not reached")) << world;
  }
  const Outcome outcome =
      dasgd("compare " + out("halve.toml") + contest.substr(7) + "--out " + out());
  EXPECT_THAT(outcome.out, HasSubstr("not reached"));
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
