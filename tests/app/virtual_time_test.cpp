#include "app/app.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, SimulatesTheSameRunTwiceToTheByte) {
  const std::string run =
      "simulate --model quadratic --workers 5 --topology ring --gradients 40 --lr 0.001 --compute "
      "lognormal:10ms:0.5 --latency uniform:1ms:9ms --slow 1:3 --drop 0.1 --duplicate 0.1 --trace "
      "--seed 4 ";
  EXPECT_EQ(dasgd(run + "--out " + out()).status, 0);
  const std::string first = read_text(out() + "/trace.jsonl");
  fs::copy(out() + "/config.toml", directory.file("again.toml"));
  EXPECT_EQ(dasgd(run + "--threads 3 --out " + out()).status, 0);
  EXPECT_EQ(read_text(out() + "/trace.jsonl"), first);
  EXPECT_EQ(dasgd("simulate " + directory.file("again.toml") + " --out " + out()).status, 0);
  EXPECT_EQ(read_text(out() + "/trace.jsonl"), first);
  EXPECT_EQ(dasgd("check " + out() + "/trace.jsonl").status, 0);
  EXPECT_EQ(summary()["lost"], 0);
}

TEST_F(App, TheGraphOfATreeOfRelaysIsCalledThat) {
  const std::string run = "simulate --model quadratic --workers 5 --gradients 4 --lr 0.001 --out ";
  EXPECT_THAT(dasgd(run + out() + " --relay tree:2").out, HasSubstr("tree:2 graph"));
  EXPECT_THAT(dasgd(run + out()).out, HasSubstr("full graph"));
}

TEST_F(App, TrainsThroughChaosInTheWordsOfTheSimulator) {
  const std::string chaos =
      " --delay 0.2:2ms --reorder 0.2 --duplicate 0.2 --drop 0.2 --pause 1:5ms:20ms --partition "
      "'0,1|2,3:10ms:20ms' ";
  for (const std::string verb : {"train", "simulate"}) {
    const Outcome outcome =
        dasgd(verb + " --model quadratic --workers 4 --gradients 100 --lr 0.001" + chaos +
              "--trace --out " + out());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("lost 0, duplicated 0, replicas identical")) << verb;
    EXPECT_GT(summary()["copies_dropped"], 0) << verb;
    EXPECT_EQ(dasgd("check " + out() + "/trace.jsonl").status, 0) << verb;
    EXPECT_THAT(read_text(out() + "/config.toml"),
                HasSubstr("partition = [\"0,1|2,3:10ms:20ms\"]"));
    fs::copy(out() + "/config.toml", directory.file(verb + ".toml"));
    EXPECT_EQ(dasgd(verb + " " + directory.file(verb + ".toml") + " --out " + out()).status, 0);
    fs::remove_all(out());
  }
  expect_refusal("train --model quadratic --pause 9:1s:1s --out " + out(),
                 "pause: worker 9 does not exist");
  expect_refusal("train --model quadratic --drop 1 --out " + out(), "is not a share");
}

/// The prediction of a recorded run: predicted over measured.
TEST_F(App, PredictsARealRunOfTwoWorkersWithinTenPercent) {
  // Padding keeps the workers computing for most of their time, whatever else the machine does;
  // what it does to them is in the trace.
  const std::string run = directory.file("recorded");
  ASSERT_EQ(dasgd("train --model quadratic --workers 2 --compute 5ms --slow 1:2 --lr 0.02 "
                  "--target-error 0.01 --trace --quiet --out " +
                  run)
                .status,
            0);
  const Outcome outcome = dasgd("simulate --from " + run + " --json --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json prediction = json::parse(outcome.out);
  for (const char* what : {"gradients_per_second", "S_avg", "seconds_to_target"})
    EXPECT_NEAR(prediction[what]["ratio"], 1, 0.1) << what << " " << prediction;
  EXPECT_EQ(json::parse(read_text(out() + "/prediction.json")), prediction);
  EXPECT_THAT(dasgd("simulate --from " + run + " --out " + out()).out,
              AllOf(HasSubstr("predicted"), HasSubstr("measured"), HasSubstr("ratio")));
  // The config that was written repeats the prediction; and what was recorded serves other plans.
  fs::copy(out() + "/config.toml", directory.file("again.toml"));
  const std::string digest = summary()["replica_digest"];
  EXPECT_EQ(dasgd("simulate " + directory.file("again.toml") + " --out " + out()).status, 0);
  EXPECT_EQ(summary()["replica_digest"], digest);
  EXPECT_EQ(dasgd("simulate --from " + run + " --workers 5 --slow 0:10 --out " + out()).status, 0);
  EXPECT_EQ(dasgd("simulate --model quadratic --gradients 9 --compute replay:" + run +
                  "/trace.jsonl --out " + out())
                .status,
            0);
}

TEST_F(App, PredictsASimulatedRunExactly) {
  const std::string run = directory.file("recorded");
  dasgd(
      "simulate --model quadratic --workers 3 --topology ring --gradients 50 --lr 0.001 --compute "
      "3ms,4ms,7ms --latency 100us --apply 2us --trace --out " +
      run);
  const Outcome outcome = dasgd("simulate --from " + run + " --json --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json prediction = json::parse(outcome.out);
  EXPECT_NEAR(prediction["gradients_per_second"]["ratio"], 1, 1e-3);
  EXPECT_NEAR(prediction["S_avg"]["ratio"], 1, 1e-3);
}

TEST_F(App, RefusesToPredictWhatWasNotRecorded) {
  const std::string run = directory.file("recorded"), to = " --out " + out();
  expect_refusal("simulate --from " + run + to, "is not a directory");
  dasgd("train --model quadratic --gradients 5 --out " + run);
  expect_refusal("simulate --from " + run + to, "record a run with --trace");
  expect_refusal("simulate --from " + run + " --out " + run, "would replace the run");
  expect_refusal("simulate --model quadratic --compute replay:" + directory.file("none") + to,
                 "is not there");
  directory.write("recorded/trace.jsonl", "{\"ev\":\"apply\"}\n");
  expect_refusal("simulate --from " + run + to, "trace.jsonl:1: has no \"worker\"");
  directory.write("recorded/summary.json", "half");
  expect_refusal("simulate --from " + run + to, "summary.json: cannot be read");
}

TEST_F(App, SimulatesMembersThatComeAndGo) {
  const std::string run =
      "simulate --model quadratic --workers 5 --total-gradients 1500 --lr 0.0001 --crash 0:3s "
      "--crash 3:6s --leave 1:5s --join 4s --partition '2|4:7s:40s' --gone-after 4s --latency "
      "uniform:1ms:5ms --trace ";
  const Outcome outcome = dasgd(run + "--out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("\nmembers 6, here at the end 3, left 1, lost 2; in the model 1,5"));
  EXPECT_THAT(outcome.out, HasSubstr("abandoned 0; replicas identical (3 of 3)\n"));
  const json s = summary();
  EXPECT_EQ(s["workers"], 6);
  EXPECT_EQ(s["members_at_end"], 3);
  EXPECT_EQ(s["left"], 1);
  EXPECT_EQ(s["lost_members"], 2);
  EXPECT_EQ(s["lost"], 0);
  EXPECT_TRUE(s["lost_gradients"].is_object());
  EXPECT_LT(s["joined_at_step"], 5) << "the first who came to the end was there from the start";
  const Outcome check = dasgd("check " + out());
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("6 members: 3 ended together, 1 left, 2 did not end"));
  const Outcome certified = dasgd("check --eta 0.1 --L 1 " + out());
  EXPECT_EQ(certified.status, 2);
  EXPECT_THAT(certified.err, HasSubstr("no step of an elastic run is certified"));
  EXPECT_THAT(read_text(out() + "/story.txt"), HasSubstr("w0 is killed"));
  // The config repeats it to the byte.
  const std::string trace = read_text(out() + "/trace.jsonl");
  fs::copy(out() + "/config.toml", directory.file("again.toml"));
  ASSERT_EQ(dasgd("simulate " + directory.file("again.toml") + " --out " + out()).status, 0);
  EXPECT_EQ(read_text(out() + "/trace.jsonl"), trace);
  // A trace that lies is found out.
  const std::size_t at = trace.find("\"S\":", trace.size() / 2) + 4;
  directory.write("run/trace.jsonl", trace.substr(0, at) + "7" + trace.substr(at));
  EXPECT_EQ(dasgd("check " + out()).status, 1);
}

TEST_F(App, RefusesMembersThatCannotComeOrGo) {
  const std::string to = " --model quadratic --workers 3 --out " + out();
  expect_refusal("simulate --crash 3:1s" + to, "--crash 3:1s: there is no worker 3");
  expect_refusal("simulate --crash 1:soon" + to, "\"soon\" is not a time");
  expect_refusal("simulate --crash 1" + to, "is not of the form WORKER:AT");
  expect_refusal("simulate --join=-1s" + to, "\"-1s\" is not a time");
  expect_refusal("simulate --join 5s --leave 3:5s" + to, "worker 3 joins at 5s");
  expect_refusal("simulate --crash 0:1s --crash 1:1s --leave 2:2s" + to,
                 "--leave 2:2s: no member with a model would be left");
  expect_refusal("simulate --crash 1:1s --topology directed-ring" + to, "--topology is full");
  expect_refusal("simulate --elastic --sampling shards" + to, "--sampling is own or independent");
  expect_refusal("compare --crash 1:1s" + to, "--crash");
}

TEST_F(App, RefusesAWorldThatCannotBe) {
  const std::string to = " --model quadratic --out " + out();
  expect_refusal("simulate --latency soon" + to, "--latency soon: \"soon\" is not a time");
  expect_refusal("simulate --compute 1ms,2ms,3ms" + to, "compute has 3 values for 2 workers");
  expect_refusal("simulate --compute lognormal:1ms" + to,
                 "is not of the form lognormal:MEDIAN:SIGMA");
  expect_refusal("simulate --drop 1.5" + to, "--drop 1.5: \"1.5\" is not a share");
  expect_refusal("simulate --pause 7:1s:1s" + to, "pause: worker 7 does not exist");
  expect_refusal("simulate --partition '0:1s:1s'" + to, "does not have two sides");
  expect_refusal("simulate --latency file:" + directory.write("l", "0 1 5ms\n1 0\n") + to,
                 "l:2: expected \"a b TIME\"");
  expect_refusal("reproduce quadratc --out " + out(), "quadratc");
  expect_refusal("simulate --latncy 1ms" + to, "did you mean --latency?");
}

TEST_F(App, SamplesArriveInVirtualTime) {
  const std::string run =
      "simulate --model logistic --batch 5 --workers 3 --no-report --out " + out();
  const std::string to = " --out " + out();
  expect_refusal("simulate --model logistic --batch 5 --arrivals poisson:-1" + to, "RATE");
  expect_refusal("simulate --model logistic --batch 5 --arrivals nowhere" + to, "nowhere");
  expect_refusal(
      "simulate --model logistic --batch 5 --arrivals " + directory.write("back", "2s\n1s\n") + to,
      "back:2: is before the line above");
  expect_refusal("simulate --model logistic --arrivals poisson:1" + to,
                 "--batch must be at least 1");
  expect_refusal("simulate --elastic --batch 5 --model logistic --arrivals poisson:1" + to,
                 "remove --arrivals");
  expect_refusal("train --model logistic --arrivals poisson:1" + to, "--arrivals");
  expect_refusal(run + " --arrivals poisson:1 --lr proved", "--lr proved: there is no proof for");
  for (const char* sampling : {"independent", "shards", "dirichlet:0.1"})
    expect_refusal(run + " --arrivals poisson:1 --sampling " + sampling,
                   std::string("--sampling ") + sampling + " has no effect with --arrivals");
  const Outcome outcome = dasgd(run + " --epochs 20 --arrivals poisson:200");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary()["samples"], 2000);
  EXPECT_NEAR(summary()["virtual_seconds"].get<double>(), 10, 1.5);
  EXPECT_NEAR(summary()["arrivals"]["arrived_per_second"].get<double>(), 200, 30);
  EXPECT_EQ(summary()["sampling"], "source");
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("arrivals = \"poisson:200\""));
  const std::string times = directory.write("times", "0s\n1ms # two\n1ms\n2s\n");
  EXPECT_EQ(dasgd(run + " --arrivals " + times).status, 0);
  EXPECT_EQ(summary()["samples"], 4);
  EXPECT_EQ(summary()["stop_reason"], "samples");
}

// The second half of the rows has the labels of the other side.
TEST_F(App, ALabelFlipInVirtualTimeShowsItsRecoveryInTheAccuracyBeforeLearning) {
  std::string rows = "u,v,side\n";
  for (int k = 0; k < 4000; ++k) {
    const double u = (k * 37 % 101 - 50) / 25.0, v = (k * 53 % 97 - 48) / 24.0;
    rows += std::to_string(u) + "," + std::to_string(v) + "," +
            std::to_string((u + v > 0) != (k >= 2000)) + "\n";
  }
  const std::string data = directory.write("flip.csv", rows);
  for (const std::string model : {"logistic", "softmax"}) {
    const Outcome outcome = dasgd(
        "simulate --validation 0 --scale none --batch 10 --workers 3 --epochs 1 --lr 0.5 "
        "--compute 1ms --arrivals poisson:1000 --no-report --model " +
        model + " --data " + data + " --out " + out());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_LT(summary()["accuracy"], 0.6) << "of all rows";
    EXPECT_GT(summary()["arrivals"]["prequential_accuracy"], 0.9) << model;
    double before = 0, least = 1;
    std::istringstream lines(read_text(out() + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const json at = json::parse(line);
      if (!at.contains("prequential_accuracy")) continue;
      const double accuracy = at["prequential_accuracy"];
      if (at["samples"] <= 2000)
        before = accuracy;
      else
        least = std::min(least, accuracy);
    }
    EXPECT_GT(before, 0.95) << model;
    EXPECT_LT(least, before - 0.05) << "the flip itself, " << model;
  }
}

}  // namespace
}  // namespace dasgd::test
