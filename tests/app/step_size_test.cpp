#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, AdvisesAStepSizeForLogisticRegression) {
  // A constant and one of four groups, which determine the label but for one row in twenty.
  std::string rows;
  for (int i = 0; i < 2000; ++i)
    rows +=
        ((i % 4 < 2) != (i % 20 == 7) ? "+1 1:1 " : "-1 1:1 ") + std::to_string(2 + i % 4) + ":1\n";
  const std::string data = directory.write("groups", rows);
  const Outcome table = dasgd("advise --model logistic --workers 8 --latency 10us --data " + data);
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* word : {"certificate", "proved", "published but false in general", "heuristic",
                           "recommended eta", "promised by", "predicted"})
    EXPECT_THAT(table.out, HasSubstr(word));
  EXPECT_LT(table.out.find("to train well  --lr auto"), table.out.find("sigma^2"));
  EXPECT_THAT(table.out,
              HasSubstr("step of the certificate for at least twice the W of the pilot"));
  const Outcome printed =
      dasgd("advise --json --model logistic --workers 8 --latency 10us --data " + data);
  const json advice = json::parse(printed.out);
  EXPECT_NEAR(advice["constants"]["L"]["value"], (1 + 1 / 4.0) / 4, 0.003);
  const double eta = advice["recommended_eta"];
  const Outcome trained = dasgd("simulate --model logistic --gradients 40 --workers 8 --lr " +
                                std::to_string(eta) + " --out " + out() + " --data " + data);
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_LT(summary()["loss"], 0.6);
}

TEST_F(App, AdvisesForAQuadraticFileFromARunAndForAClusterThatIsNotThere) {
  const auto file = directory.write("q.json", R"({"A": [[2, 0], [0, 1]], "b": [1, 1]})");
  const json advice = json::parse(dasgd("advise --json --model quadratic --data " + file).out);
  EXPECT_NEAR(advice["constants"]["L"]["value"], 4, 0.04);
  EXPECT_EQ(advice["constants"]["sigma2"]["value"], 0);
  EXPECT_NEAR(advice["constants"]["r0"]["value"], 1, 1e-9);

  dasgd("simulate --model quadratic --data " + file + " --workers 3 --out " + out());
  const json from = json::parse(dasgd("advise --json --from " + out()).out);
  EXPECT_EQ(from["staleness"]["S_max"], summary()["S_max"]);
  EXPECT_EQ(from["staleness"]["W"], summary()["W"]);

  const json far = json::parse(
      dasgd("advise --json --model quadratic --workers 64 --topology ring --latency 1ms").out);
  EXPECT_GT(far["staleness"]["S_max"], 64);
  EXPECT_TRUE(far["staleness"]["W"].is_number());
}

TEST_F(App, TriesStepsInTheWorldOfTheEarlierRun) {
  const std::string run =
      "--model quadratic --workers 8 --slow 7:10 --compute 1ms --latency 5ms --total-gradients 400";
  dasgd("simulate " + run + " --out " + out());
  const json given = json::parse(dasgd("advise --json " + run).out);
  const json from = json::parse(dasgd("advise --json --from " + out()).out);
  ASSERT_FALSE(given["tried"].empty());
  EXPECT_EQ(from["tried"], given["tried"]);
  const json elsewhere = json::parse(dasgd("advise --json --latency 1us --from " + out()).out);
  EXPECT_NE(elsewhere["tried"], given["tried"]) << "an option wins over the earlier run";

  const auto with_clocks_of_the_first = "--compute replay:" + out() + " --workers 16";
  dasgd("simulate " + run + " --trace --out " + out());
  dasgd("simulate --model quadratic --gradients 30 " + with_clocks_of_the_first + " --out " +
        out("again"));
  const Outcome replayed = dasgd("advise --json --from " + out("again"));
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  dasgd("simulate --model quadratic --workers 3 --elastic --gradients 30 --out " + out("elastic"));
  const json elastic = json::parse(dasgd("advise --json --from " + out("elastic")).out);
  EXPECT_EQ(elastic["recommended_status"], "proved only for a fixed set of workers");
}

TEST_F(App, TakesItsOwnAdviceWithLrProved) {
  for (const std::string command : {"train", "simulate"}) {
    const Outcome outcome =
        dasgd(command + " --model quadratic --workers 2 --lr proved --gradients 300 --out " +
              out(command));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("lr proved: "));
    const json run = json::parse(read_text(out(command) + "/summary.json"));
    const json advice = json::parse(read_text(out(command) + "/advice.json"));
    EXPECT_DOUBLE_EQ(run["eta"], advice["recommended_eta"]);
    EXPECT_EQ(advice["recommended_status"], "proved");
    EXPECT_EQ(advice["practical_how"], "the recommended step: no trials were asked for");
    EXPECT_NEAR(run["L"], 4, 1e-6);
    for (const char* key : {"certified", "certified_eta", "published_eta_1", "published_eta_2"})
      EXPECT_TRUE(run.contains(key)) << key;
  }
  EXPECT_EQ(json::parse(read_text(out("simulate") + "/summary.json"))["certified"], true);
}

TEST_F(App, TakesTheBestOfShortRunsWithLrAuto) {
  const Outcome outcome = dasgd(
      "train --model logistic --batch 10 --workers 2 --lr auto --gradients 300 --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(ContainsRegex("lr auto: .*\\((0\\.[0-9]+ of [0-9.e+-]+, )?the best of [0-9]+ "),
                    HasSubstr("not proved"), HasSubstr("lr proved would be ")));
  const json advice = json::parse(read_text(out() + "/advice.json"));
  EXPECT_DOUBLE_EQ(summary()["eta"], advice["practical_eta"]);
  EXPECT_GT(advice["tried"].size(), 5u);
  EXPECT_LT(summary()["loss"], std::log(2.0));
}

TEST_F(App, LrAutoCoolsDownUnlessAScheduleIsGiven) {
  const std::string run =
      "simulate --model logistic --batch 10 --workers 2 --lr auto --gradients 300";
  const auto schedule = [&] { return read_text(out() + "/config.toml"); };
  const Outcome outcome = dasgd(run + " --out " + out());
  EXPECT_THAT(outcome.err, HasSubstr("decaying to 0 over the last 30 % of the run"));
  EXPECT_THAT(schedule(), HasSubstr("schedule = \"cooldown\""));
  EXPECT_EQ(json::parse(read_text(out() + "/advice.json"))["practical_schedule"], "cooldown");
  dasgd(run + " --schedule constant --out " + out("constant"));
  EXPECT_THAT(read_text(out("constant") + "/config.toml"), HasSubstr("schedule = \"constant\""));
}

// Each makes its gradients, however many come: nobody knows where the run ends.
TEST_F(App, LrAutoOfMembersWhoComeAndGoHasAScheduleOnlyWithABudgetOfAll) {
  const std::string run = "simulate --model logistic --batch 10 --workers 1 --lr auto --join 10ms ";
  dasgd(run + "--gradients 200 --out " + out("each"));
  EXPECT_THAT(read_text(out("each") + "/config.toml"), Not(HasSubstr("schedule")));
  dasgd(run + "--total-gradients 200 --out " + out("all"));
  EXPECT_THAT(read_text(out("all") + "/config.toml"), HasSubstr("schedule = \"cooldown\""));
}

TEST_F(App, AStopWhileSimulateLooksForAStepLeavesTheEarlierRun) {
  dasgd("simulate --model quadratic --gradients 5 --out " + out());
  const std::string earlier = read_text(out() + "/summary.json");
  const Process process(command(
      "simulate --model logistic --batch 10 --workers 60 --lr auto --gradients 100000000 --out " +
      out()));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a trial takes longer
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  EXPECT_EQ(read_text(out() + "/summary.json"), earlier);
}

TEST_F(App, NoStepIsProvedForAnotherRule) {
  expect_refusal("simulate --model quadratic --lr proved --rule momentum --out " + out(),
                 "--lr proved needs plain SGD");
  const std::string other = " --model quadratic --rule momentum --gradients 50 ";
  EXPECT_THAT(dasgd("advise" + other).out,
              AllOf(HasSubstr("--lr auto"), HasSubstr("there are proofs only for plain SGD"),
                    Not(HasSubstr("--lr proved"))));
  EXPECT_THAT(dasgd("simulate --lr auto" + other + "--out " + out()).err,
              AllOf(HasSubstr("lr auto: "), Not(HasSubstr("lr proved"))));
}

TEST_F(App, NoStepIsProvedForLookAheadOrMessagesOfFewBits) {
  const std::string run = "simulate --model quadratic --lr proved --out " + out();
  expect_refusal(run + " --look-ahead 1", "--lr proved needs gradients at the replicas");
  expect_refusal(run + " --message int8", "--lr proved needs full updates");
  expect_refusal(run + " --batch 5 --sampling shards", "there is no proof for --sampling shards");
}

TEST_F(App, NeitherCertifiesNorRefusesARunWithNoise) {
  const std::string run = " --model logistic --workers 2 --lr 0.01 --gradients 50 --out " + out();
  dasgd("simulate --batch 10 --trace" + run);
  EXPECT_TRUE(summary()["certified"].is_null());
  EXPECT_THAT(summary()["certified_why"].get<std::string>(), HasSubstr("noise"));
  const json check = json::parse(dasgd("check --json --eta 0.01 --L 0.6 " + out()).out);
  EXPECT_TRUE(check["certified"].is_null()) << "the run beside the trace had noise";
  dasgd("simulate --batch 0 --trace" + run);
  EXPECT_EQ(summary()["certified"], true);
  EXPECT_THAT(summary()["certified_why"].get<std::string>(), HasSubstr("at most 1"));
  EXPECT_EQ(json::parse(dasgd("check --json --eta 0.01 --L 0.6 " + out()).out)["certified"], true);
  const std::string other = "simulate --model quadratic --gradients 20 --trace --lr 0.001 ";
  for (const char* rule : {"--rule momentum", "--clip 1", "--schedule cosine"}) {
    ASSERT_EQ(dasgd(other + rule + " --out " + out("rule")).status, 0) << rule;
    const json found = json::parse(dasgd("check --json --eta 0.001 --L 4 " + out("rule")).out);
    EXPECT_EQ(found["certified"], false) << rule;
    EXPECT_THAT(found["certified_why"].get<std::string>(), HasSubstr("plain SGD")) << rule;
  }
}

TEST_F(App, AdvisesWithNoiseNoStepThatItHasNoProofFor) {
  const std::string command =
      "advise --json --model logistic --workers 4 --compute 50ms --batch 10 --gradients 50";
  const json otherwise = json::parse(dasgd(command).out);
  EXPECT_EQ(otherwise["recommended_status"], "proved for independent draws");
  for (const json& limit : otherwise["limits"]) EXPECT_NE(limit["status"], "proved");
  EXPECT_THAT(dasgd(command.substr(0, 7) + command.substr(14)).out,
              HasSubstr("for causal delivery and independent draws"));
  const json advice = json::parse(dasgd(command + " --sampling independent").out);
  double largest = 0;
  for (const json& limit : advice["limits"])
    if (limit["status"] == "proved") largest = std::max<double>(largest, limit["eta"]);
  EXPECT_EQ(advice["recommended_status"], "proved");
  EXPECT_LE(advice["recommended_eta"], largest);
  EXPECT_TRUE(advice["practical_eta"].is_number());
}

TEST_F(App, LrProvedWithBatchesBringsIndependentDrawsOrSaysThatItNeedsThem) {
  const std::string run = " --model logistic --batch 10 --workers 2 --gradients 50 --lr proved";
  expect_refusal("simulate --sampling own" + run, "use --sampling independent");
  expect_refusal("train --sampling shards" + run, "use --sampling independent");
  const Outcome outcome = dasgd("simulate" + run + " --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary()["sampling"], "independent");
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("sampling = \"independent\""));
  EXPECT_EQ(json::parse(read_text(out() + "/advice.json"))["recommended_status"], "proved");
  dasgd("simulate --model quadratic --gradients 50 --lr proved --out " + out());
  EXPECT_EQ(summary()["sampling"], "own") << "nothing is drawn";
}

TEST_F(App, ARunWithLrProvedSaysWhatWasAssumedAndWhetherItHeld) {
  const auto of = [&](const std::string& name) {
    const json list = summary()["assumptions"]["list"];
    for (const json& item : list)
      if (item["name"] == name) return item;
    return json();
  };
  const std::string run = "simulate --model logistic --batch 10 --workers 3 --gradients 60 ";
  const Outcome outcome = dasgd(run + "--lr proved --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name :
       {"W", "S_avg", "sigma2", "r0", "causal", "draws", "timing", "step", "look_ahead"})
    EXPECT_EQ(of(name)["held"], true) << name << " " << summary()["assumptions"].dump(1);
  EXPECT_EQ(of("W")["found"], summary()["W"]);
  EXPECT_GE(of("W")["at_most"], summary()["W"]);
  EXPECT_EQ(summary()["assumptions"]["held"], true);
  EXPECT_THAT(outcome.out,
              HasSubstr("assumed    9 of 9 held (sigma^2 was checked at the final model only)"));
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("\"assumptions\""));
  EXPECT_THAT(dasgd(run + "--lr proved --target-loss 0.69 --out " + out()).out,
              HasSubstr("timing: when the run ended (target) depended on the noise; 8 of 9 held"));
  EXPECT_EQ(summary()["assumptions"]["held"], false);
  const std::string real =
      "train --model logistic --batch 10 --workers 2 --gradients 60 --lr proved";
  EXPECT_THAT(
      dasgd(real + " --out " + out()).out,
      HasSubstr(" (sigma^2 was checked at the final model only); timing cannot be checked; "));
  dasgd(run + "--lr 0.1 --out " + out());
  EXPECT_FALSE(summary().contains("assumptions")) << "nothing was";
}

TEST_F(App, AStepOfAnElasticRunIsProvedOnlyForAFixedSetOfWorkers) {
  const std::string status = "proved only for a fixed set of workers";
  for (const std::string run :
       {"simulate --workers 2 --join 200ms --leave 1:800ms", "simulate --workers 2 --elastic",
        "train --listen 127.0.0.1:0 --expect 2"}) {
    const Outcome outcome =
        dasgd(run + " --model quadratic --gradients 50 --lr proved --out " + out());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(status), Not(HasSubstr("proved by the")))) << run;
    const json advice = json::parse(read_text(out() + "/advice.json"));
    EXPECT_EQ(advice["recommended_status"], status) << run;
    for (const json& limit : advice["limits"]) EXPECT_NE(limit["status"], "proved") << run;
    const json last = summary()["assumptions"]["list"].back();
    EXPECT_EQ(last["name"], "workers");
    EXPECT_NE(summary()["assumptions"]["held"], true) << run;
    EXPECT_EQ(last["held"] == false, run.find("--leave") != std::string::npos) << run;
    fs::remove_all(out());
  }
}

TEST_F(App, SaysOfShardsWhatIsMissingAndWhatAFullBatchMakesOfThem) {
  const std::string run = " --model logistic --workers 2 --gradients 50 --compute 1ms --sampling ";
  for (const std::string sampling : {"shards", "dirichlet:0.1"}) {
    const json advice = json::parse(dasgd("advise --json --batch 10" + run + sampling).out);
    EXPECT_THAT(advice["grounds"].get<std::string>(), HasSubstr("Assumption 2 is missing"));
    EXPECT_THAT(dasgd("simulate --batch 10" + run + sampling + " --out " + out()).out,
                HasSubstr("minimises the mean over the workers' shards"));
    EXPECT_THAT(dasgd("simulate --batch 0" + run + sampling + " --out " + out()).out,
                HasSubstr(sampling + ": without effect, each gradient used all samples"));
  }
  EXPECT_THAT(dasgd("advise --batch 10" + run + "own").out, Not(HasSubstr("Assumption 2")));
}

TEST_F(App, HoldsMeasuredSumsAgainstTheBounds) {
  dasgd("simulate --model quadratic --workers 3 --lr 0.02 --measure-gradients --out " + out());
  const json run = summary();
  EXPECT_EQ(run["certified"], true);
  EXPECT_LE(run["certificate_measured"]["ratio"], 1);
  EXPECT_GT(run["certificate_measured"]["ratio"], 0);
  EXPECT_GT(run["published_measured"]["ratio"], 0);
  EXPECT_GT(run["residuals_measured"]["lemma_7"]["ratio"], 0);
  EXPECT_GT(run["residuals_measured"]["lemma_8"]["ratio"], 0);
  EXPECT_GT(run["residuals_measured"]["max_replica_distance"], 0);
  dasgd("train --model quadratic --workers 2 --gradients 20 --measure-gradients --out " + out());
  EXPECT_TRUE(summary()["residuals_measured"].is_null());
  EXPECT_THAT(summary()["residuals_why"].get<std::string>(), HasSubstr("virtual time"));
}

TEST_F(App, WarnsOnceWhenTheCertifiedLimitIsCrossed) {
  const Outcome outcome = dasgd(
      "train --model quadratic --workers 2 --lr 0.3 --on-divergence halve --compute 1ms "
      "--gradients 500 --out " +
      out());
  const std::string line = "step size 0.3 is above ";
  ASSERT_THAT(outcome.err, HasSubstr(line));
  EXPECT_EQ(outcome.err.find(line), outcome.err.rfind(line));
  EXPECT_EQ(summary()["certified"], false);
}

TEST_F(App, ADivergingLossStopsWithTheLastGoodModelOrHalvesItsStep) {
  const std::string run =
      " --model quadratic --workers 8 --lr 0.12 --gradients 2000 --out " + out();
  const Outcome stopped = dasgd("simulate" + run);
  EXPECT_EQ(stopped.status, 1);
  EXPECT_THAT(stopped.err, HasSubstr("diverged"));
  EXPECT_EQ(summary()["stop_reason"], "diverged");
  EXPECT_EQ(summary()["model"], "last good");
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_TRUE(fs::exists(out() + "/model.npy"));

  const Outcome halved = dasgd("simulate --on-divergence halve" + run);
  EXPECT_EQ(halved.status, 0) << halved.err;
  EXPECT_THAT(halved.out, ContainsRegex("step size +halved [0-9]+ time"));
  EXPECT_GT(summary()["halvings"], 0);
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_LT(summary()["loss"], 1e-6);

  const Outcome real = dasgd(
      "train --on-divergence halve --model quadratic --workers 2 --lr 0.6 "
      "--gradients 3000 --out " +
      out());
  EXPECT_EQ(real.status, 0) << real.err;
  EXPECT_GT(summary()["halvings"], 0);
  EXPECT_LT(summary()["loss"], 1e-6);
}

TEST_F(App, AnUpdateThatCannotBeMadeIsHalvedUntilItCan) {
  const Outcome outcome = dasgd(
      "train --on-divergence halve --model quadratic --workers 3 --lr 1e9 --gradients 200 "
      "--quiet --out " +
      out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(summary()["gradients"], 400) << "a halving costs the sample that was too much";
  EXPECT_GT(summary()["halvings"], 0);
  EXPECT_EQ(summary()["replicas_identical"], true);
}

TEST_F(App, RefusesStepSizesThatCannotBe) {
  expect_refusal("train --lr fast --out " + out(), "--lr fast");
  expect_refusal("train --lr -1 --out " + out(), "not a positive number");
  expect_refusal("train --lr 1e300 --out " + out(), "must be more than 0 and at most 1e9");
  expect_refusal("train --on-divergence panic --out " + out(), "neither stop nor halve");
  expect_refusal("train --L 0 --out " + out(), "--L 0");
  expect_refusal("advise --accuracy 0", "must be positive");
  expect_refusal("advise --from " + directory.file("nothing"), "is not a run directory");
  fs::create_directories(directory.file("half"));
  directory.write("half/config.toml", "model = \"quadratic\"\n");
  expect_refusal("advise --from " + directory.file("half"), "summary.json: cannot be read");
  directory.write("half/summary.json", "{}");
  expect_refusal("advise --from " + directory.file("half"), "is not the summary of a run");
  directory.write("half/summary.json", R"({"S_avg": 1, "S_avg": 2})");
  expect_refusal("advise --from " + directory.file("half"), "a key is given twice");
}

}  // namespace
}  // namespace dasgd::test
