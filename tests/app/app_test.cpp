#include "app/app.hpp"

#include <iterator>

#include "support/questionnaire.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, TrainsTheQuadraticOnARingAndTheCheckAgrees) {
  const Outcome trained = dasgd(
      "train --model quadratic --workers 8 --topology ring --gradients 500 --lr 0.02 --trace "
      "--out " +
      out());
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("lost 0, duplicated 0, replicas identical"));
  for (const char* file :
       {"config.toml", "metrics.jsonl", "summary.json", "trace.jsonl", "model.npy"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  for (const auto& entry : fs::directory_iterator(out()))
    EXPECT_NE(entry.path().extension(), ".partial");

  const Outcome checked = dasgd("check --json --eta 1e-5 --L 4 " + out() + "/trace.jsonl");
  EXPECT_EQ(checked.status, 0) << checked.err;
  const json check = json::parse(checked.out), run = summary();
  EXPECT_EQ(check["ok"], true);
  EXPECT_EQ(check["workers"], 8);
  EXPECT_EQ(check["gradients"], 4000);
  EXPECT_EQ(check["events"].size(), 32'000u);
  EXPECT_EQ(check["causal"], true);
  for (const char* key : {"S_max", "S_hat_max", "W"}) EXPECT_EQ(check[key], run[key]) << key;
  for (const char* key : {"S_avg", "S_hat_avg", "S_mean_square"})
    EXPECT_DOUBLE_EQ(check[key], run[key]) << key;
  for (const char* key : {"violations", "noncausal_applications", "sum_S", "certified",
                          "certified_eta", "published_eta_1", "published_eta_2"})
    EXPECT_TRUE(check.contains(key)) << key;
  EXPECT_EQ(run["lost"], 0);
  EXPECT_EQ(run["duplicated"], 0);
  EXPECT_EQ(run["replicas_identical"], true);
}

TEST_F(App, TheResolvedConfigRepeatsTheRun) {
  dasgd("train --model logistic --workers 1 --batch 10 --gradients 50 --seed 9 --out " + out());
  const std::string first = summary()["replica_digest"];
  fs::copy(out() + "/config.toml", directory.file("again.toml"));
  const Outcome again = dasgd("train " + directory.file("again.toml") + " --out " + out());
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(summary()["replica_digest"], first);
  EXPECT_EQ(read_text(out() + "/config.toml"), read_text(directory.file("again.toml")));
}

TEST_F(App, TheCommandLineWinsOverTheFile) {
  const std::string file =
      directory.write("c.toml",
                      "model = \"quadratic\"\nworkers = 3\nlr = 0.01\n"
                      "[topology]\nkind = \"star\"\nrelay = \"apply\"\n"
                      "[budget]\ngradients = [1, 2, 3]\n"
                      "[pace]\nslow = [\"1:2\", \"2:3\"]\ncompute = \"1ms\"\n");
  const Outcome outcome = dasgd("train " + file + " --lr 0.02 --slow 0:2 --json --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["gradients"], 6);
  const std::string resolved = read_text(out() + "/config.toml");
  EXPECT_THAT(resolved, AllOf(HasSubstr("lr = 0.02"), HasSubstr("slow = [\"0:2\"]"),
                              HasSubstr("kind = \"star\""), HasSubstr("relay = \"apply\"")));
}

TEST_F(App, ReadsInstancesFromFiles) {
  const std::string instance = directory.write("q.json", R"({"A": [[2, 0], [0, 1]], "b": [2, 3]})");
  EXPECT_EQ(dasgd("train --model quadratic --data " + instance +
                  " --lr 0.1 --target-error 1e-9 --out " + out())
                .status,
            0);
  EXPECT_LT(summary()["loss"], 1e-15);
  EXPECT_EQ(summary()["stop_reason"], "target");
}

TEST_F(App, TrainsOnLibsvmData) {
  const std::string path = directory.write("made", questionnaire(10'000).text);
  const Outcome outcome =
      dasgd("train --model logistic --data " + path +
            " --batch 64 --epochs 10 --lr 0.1 --workers 4 --topology ring --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(summary()["accuracy"], 0.83);
  EXPECT_GE(summary()["samples"], 10 * 10'000);
  EXPECT_LT(summary()["samples"], 10 * 10'000 + 64);
}

TEST_F(App, TrainsOnAnyIdxDirectory) {
  write_tiny_idx(directory);
  const Outcome outcome = dasgd("train --model softmax --data " + directory.path() +
                                " --workers 3 --batch 5 --epochs 40 --lr 0.2 --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(summary()["accuracy"], 0.95);
}

TEST_F(App, TrainsFashionMnistToEightyPercent) {
  const Outcome outcome =
      dasgd("train --model softmax --data fashion-mnist --workers 4 --lr 0.03 --epochs 10 --out " +
            out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(summary()["accuracy"], 0.80);
}

TEST_F(App, RefusesMistypedAndImpossibleArguments) {
  const std::string to = " --out " + out();
  expect_refusal("", "name a command: train, simulate, ");
  expect_refusal("trian", "unknown command \"trian\"; did you mean \"train\"?");
  expect_refusal("train --wrokers 4" + to, "unknown option --wrokers; did you mean --workers?");
  expect_refusal("train --model quadratc" + to, "did you mean \"quadratic\"?");
  expect_refusal("train --data fashion-minst" + to, "did you mean \"fashion-mnist\"?");
  expect_refusal("train --topology rign" + to,
                 "--topology rign: unknown topology \"rign\"; did you mean \"ring\"?");
  expect_refusal("train --relay aply" + to, "did you mean \"apply\"?");
  expect_refusal("train --workers 0" + to, "--workers 0: must be at least 1");
  expect_refusal("train --workers two" + to, "--workers two: \"two\" is not a whole number");
  expect_refusal("train --lr -0.1" + to, "--lr -0.1: -0.1 is not a positive number");
  expect_refusal("train --lr nan" + to, "--lr nan");
  expect_refusal("train --max-time 5" + to, "\"5\" is not a time; write it like 50ms");
  expect_refusal("train --slow 1" + to, "is not WORKER:FACTOR");
  expect_refusal("train --model quadratic --slow 7:2" + to, "worker 7 does not exist");
  expect_refusal("train --model quadratic --slow 1:2 --slow 1:3" + to, "worker 1 is given twice");
  expect_refusal("train --workers 2 --partition '0|0:1s:1s'" + to, "has a worker on both sides");
  expect_refusal("compare --model quadratic --target-loss 1 --world equal --world equal" + to,
                 "world equal: is given twice");
  expect_refusal("train --loss mse" + to, "--loss applies to networks and --model linear only");
  expect_refusal("train --model quadratic --workers 3 --gradients 1,2" + to,
                 "2 numbers for 3 workers");
  expect_refusal("train --gradients" + to, "--gradients --out: \"--out\" is not a whole number");
  expect_refusal("train --gradients", "--gradients needs a value: --gradients N");
  expect_refusal("sweep nix", "dasgd: sweep needs --out DIR; see: dasgd sweep --help");
  expect_refusal("data gte fashion-mnist", "unknown command \"gte\"; did you mean \"get\"?");
  expect_refusal("data get fashion-mnit", "did you mean \"fashion-mnist\"?");
  expect_refusal("train --lr -0.5 --foo 3" + to, "unknown option --foo");
  expect_refusal("check /no/such/trace", "/no/such/trace: cannot be opened");
  expect_refusal("check", "check needs TRACE.jsonl|RUN_DIR");
  expect_refusal("check /proc",
                 "/proc/trace.jsonl: cannot be opened; dasgd check needs a trace.jsonl: run "
                 "with --trace");
  expect_refusal("check " + std::string(300, 'x'), "File name too long");
  expect_refusal("check x --eta abc", "--eta = abc is not a number");
  expect_refusal("check x --eta 1", "--eta and --L belong together");
  expect_refusal("check x --eta 1 --L -4", "--L -4: must be a positive number");
  expect_refusal("train --lr 1 --lr 2" + to, "--lr is given 2 times; give it once");
  expect_refusal("simulate --resume x" + to, "--resume is an option of train, not of simulate");
  expect_refusal("train \"\"" + to, "the name is empty");
  expect_refusal("reproduce cifar --seeds abc", "abc is not a number from 1 to 1,000");
  expect_refusal("data", "name a command: list, get");
  expect_refusal("data get cifar10 --from /no/such/file", "/no/such/file: is not a file");
}

TEST_F(App, RefusesBadFilesWithTheirLine) {
  const std::string to = " --out " + out();
  expect_refusal("train nope.toml" + to, "nope.toml: is not a file");
  const auto toml = [&](const std::string& text) {
    return "train " + directory.write("c.toml", text) + to;
  };
  expect_refusal(toml("workers = 2\n[topology]\nknd = \"ring\"\n"),
                 "c.toml:3: unknown key \"topology.knd\"; did you mean \"topology.kind\"?");
  expect_refusal(toml("[lunch]\nmenu = \"soup\"\n"),
                 "c.toml:2: unknown key \"lunch.menu\"; dasgd train --help shows");
  expect_refusal(toml("[topology]\nkind = \"rign\"\n"),
                 "c.toml: topology.kind = \"rign\": unknown topology");
  expect_refusal(toml("lr = -1\n"), "c.toml: lr = -1: -1 is not a positive number");
  expect_refusal(toml("workers = 2\nlr = \n"), "c.toml:2: ");
  expect_refusal(toml("workers = 2020-01-01\n"), "c.toml: workers");
  std::string path = "a";
  for (int k = 0; k < 50'000; ++k) path += ".a";
  for (const std::string& deep :
       {path + " = 1", "[" + path + "]", "a = " + std::string(50'000, '[')})
    expect_refusal(toml("workers = 2\n" + deep + "\n"), "c.toml:2: is nested more than 32 deep");
  expect_refusal(toml("# " + std::string(1 << 20, 'x')), "c.toml: is larger than 1 MiB");
  expect_refusal("train --model quadratic --data " +
                     directory.write("d.json", std::string(1'000'000, '[')) + to,
                 "d.json:1: is malformed JSON");
  for (const char* table : {"stra\xc3\x9f"
                            "e,y\n1,2\n",
                            "x,y\n1,2\n"}) {
    const std::string csv = directory.write("t.csv", table);
    expect_refusal("train " + csv, "; a config is a TOML file, data are given as --data " + csv);
  }
  expect_refusal(
      "train --model quadratic --data " + directory.write("q.json", "{\"A\": [[1, 2]") + to,
      "q.json:1: is malformed JSON");
  expect_refusal("train --model logistic --data " + directory.write("l", "1 1:1\n-1 1:nan\n") + to,
                 "l:2: value \"nan\" is not finite");
  expect_refusal("train --model logistic --data " + directory.path() + to, "has no train-images");
  expect_refusal("train --model softmax --data " + directory.file("l") + to, "is not finite");
  write_tiny_idx(directory);
  fs::resize_file(directory.file("train-images-idx3-ubyte"), 100);
  expect_refusal("train --model softmax --data " + directory.path() + to,
                 "train-images-idx3-ubyte: is truncated");
  expect_refusal("train --model quadratic --workers 4 --topology file:" +
                     directory.write("edges", "0 1\n2 3\n") + to,
                 "workers {0, 1} cannot reach workers {2, 3}");
}

TEST_F(App, TheDirectoryOfALoopIsSentBackToItsProgram) {
  const std::string loop = directory.file("loop");
  fs::create_directory(loop);
  directory.write("loop/config.toml", "model = \"python\"\nlr = \"of the optimizer\"\n");
  const Outcome outcome = dasgd("train --resume " + loop);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("Python program"));
  EXPECT_THAT(outcome.err, HasSubstr("continue it there"));
}

TEST_F(App, ADivergingRunFailsWithAHintAndKeepsItsRecords) {
  const Outcome outcome =
      dasgd("train --model quadratic --lr 5 --gradients 100000 --quiet --out " + out());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              ContainsRegex("diverged: worker [01], gradient .*, coordinate .* step size of 0.5"));
  EXPECT_EQ(summary()["stop_reason"], "diverged");
  EXPECT_EQ(summary()["replicas_identical"], true);
}

TEST_F(App, CheckSaysInWordsWhatHasNoLimit) {
  dasgd("simulate --model quadratic --workers 1 --gradients 9 --trace --no-report --out " + out());
  const Outcome checked = dasgd("check --eta 0.1 --L 1 " + out());
  EXPECT_THAT(checked.out, AllOf(HasSubstr("1 worker, 9 gradients, 9 applications\n"),
                                 HasSubstr("S_hat_max 0: the looser staleness of the paper\n"),
                                 HasSubstr("none and none published")));
}

TEST_F(App, CheckingARunHoldsItsTraceAgainstItsSummary) {
  dasgd("train --model quadratic --gradients 45 --trace --quiet --no-report --out " + out());
  EXPECT_EQ(dasgd("check " + out()).status, 0);
  std::istringstream good(read_text(out() + "/trace.jsonl"));
  std::string two;  // the first gradient of either worker and nothing else, everywhere
  for (std::string line; std::getline(good, line);)
    if (line.find("\"seq\":0,") != line.npos &&
        (line.find("\"step\":0,") != line.npos || line.find("\"step\":1,") != line.npos))
      two += line + "\n";
  std::ofstream(out() + "/trace.jsonl") << two;
  const Outcome cut = dasgd("check " + out());
  EXPECT_EQ(cut.status, 1);
  EXPECT_THAT(dasgd("check --json " + out()).out,
              HasSubstr("gradients of worker 0, summary.json says 45"));
  std::ofstream(out() + "/trace.jsonl").flush();
  EXPECT_THAT(dasgd("check " + out()).err,
              HasSubstr("the trace has 0 gradients of worker 0, summary.json says 45"));
  fs::remove(out() + "/summary.json");
  EXPECT_THAT(dasgd("check " + out()).err, HasSubstr("the trace holds no application"));
}

TEST_F(App, ALegWithoutGradientsIsSound) {
  dasgd("train --model quadratic --gradients 0 --trace --quiet --no-report --out " + out());
  EXPECT_EQ(read_text(out() + "/trace.jsonl"), "");
  const Outcome checked = dasgd("check " + out());
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("0 gradients"));
  EXPECT_EQ(json::parse(dasgd("check --json " + out()).out)["ok"], true);
}

TEST_F(App, ABrokenTraceNamesItsFirstViolatedLine) {
  dasgd("train --model quadratic --gradients 20 --trace --quiet --out " + out());
  const std::string good = read_text(out() + "/trace.jsonl");
  const auto check = [&](const std::string& text, const std::string& option = "") {
    return dasgd("check " + option + " " + directory.write("t.jsonl", text));
  };
  EXPECT_EQ(check(good).status, 0);
  std::string wrong = good;
  const auto at = wrong.find("\"S\":", wrong.find('\n', wrong.size() / 2));
  wrong.replace(at, 4, "\"S\":9");
  const auto line =
      std::count(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const Outcome outcome = check(wrong);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("t.jsonl:" + std::to_string(line) + ": S is written as 9"));

  const Outcome truncated = check(good.substr(0, good.size() - 30), "--json");
  EXPECT_EQ(truncated.status, 1);
  EXPECT_EQ(json::parse(truncated.out)["ok"], false);
  EXPECT_EQ(check("").status, 1);
  EXPECT_EQ(check("garbage\n").status, 1);
}

TEST_F(App, QuietAndJsonSayNoMoreThanTheyShould) {
  const Outcome quiet = dasgd("train --model quadratic --gradients 10 --quiet --out " + out());
  EXPECT_EQ(quiet.out + quiet.err, "");
  const Outcome as_json = dasgd("train --model quadratic --gradients 10 --json --out " + out());
  EXPECT_EQ(json::parse(as_json.out)["gradients"], 20);
}

TEST_F(App, StandardOutputThatCannotBeWrittenIsAFailure) {
  const Outcome outcome =
      shell("sh -c '" + command("train --model quadratic --gradients 5 --json --out " + out()) +
            " >/dev/full'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("standard output cannot be written"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve all addresses
TEST_F(App, TooManyThreadsAreAFailureNotAHang) {
  const Outcome outcome =
      shell("sh -c 'ulimit -v 700000; exec timeout 100 " +
            command("train --model quadratic --workers 300 --topology ring --gradients 1 --out ") +
            out() + "'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, ::testing::AnyOf(HasSubstr("worker threads could be started"),
                                            HasSubstr("out of memory")));
}
#endif

TEST_F(App, MetricsAreJsonLines) {
  const Process process(
      command("train --model quadratic --lr 1e-5 --max-time 10min --out " + out()));
  ASSERT_TRUE(eventually([&] {
    const std::string text = read_text(out() + "/metrics.jsonl.partial");
    return std::count(text.begin(), text.end(), '\n') >= 3;
  }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  std::ifstream file(out() + "/metrics.jsonl");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const json entry = json::parse(line);
    for (const char* key : {"seconds", "gradients", "samples", "loss", "S_avg", "inbox_depth"})
      EXPECT_TRUE(entry.contains(key)) << key;
  }
  EXPECT_GE(lines, 4) << "and one of the end";
}

TEST_F(App, HelpTeaches) {
  EXPECT_THAT(dasgd("--help").out, AllOf(HasSubstr("train"), HasSubstr("check"),
                                         HasSubstr("Examples"), HasSubstr("Exit status")));
  EXPECT_THAT(dasgd("train --help").out,
              AllOf(HasSubstr("--topology"), HasSubstr("torus:RxC"), HasSubstr("[topology.kind]")));
  EXPECT_THAT(dasgd("--version").out, ContainsRegex("dasgd [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(dasgd("data list").out, HasSubstr("fashion-mnist"));
  EXPECT_THAT(dasgd("data get fashion-mnist").out,
              HasSubstr("60,000 training and 10,000 test images"));
}

TEST_F(App, ATerminalGetsALiveStatusLine) {
  const Outcome outcome = shell(
      "script -qec '" +
      command("train --model quadratic --lr 1e-5 --max-time 900ms --out " + out()) + "' /dev/null");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\r\033[K["), HasSubstr("\r\033[Ktrained quadratic"),
                    HasSubstr("left 0:0"), HasSubstr("loss "), HasSubstr("/s"), HasSubstr("S ")));
}

}  // namespace
}  // namespace dasgd::test
