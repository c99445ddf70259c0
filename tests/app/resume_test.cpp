// Runs that are killed and go on, as a person would see it.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "support/process.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ResumeApp : public ::testing::Test {
 protected:
  ResumeApp() { write_tiny_idx(images); }

  Outcome dasgd(const std::string& arguments) { return shell(command(arguments)); }
  std::string command(const std::string& arguments) { return DASGD_BINARY " " + arguments; }
  std::string start(const std::string& more, const std::string& every = "30ms",
                    const std::string& compute = "200us") {
    return "train --model softmax --data " + images.path() + " --batch 5 --lr 0.05 --compute " +
           compute + " --checkpoint-every " + every + " --out " + out() + " " + more;
  }
  std::string resume(const std::string& more = "") {
    return "train --resume " + out() + " --compute 200us " + more;
  }
  std::string out() { return directory.file("run"); }
  json summary() { return json::parse(read_text(out() + "/summary.json")); }

  std::vector<std::string> checkpoints() {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(out() + "/checkpoints", ignored))
      if (entry.path().extension() == ".dasgd") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Starts a run and kills it with SIGKILL once it has written `count` checkpoints. Until then it
  /// is slow, so that it cannot end before.
  void kill_after(std::size_t count, const std::string& more) {
    const auto newest = [&] { return checkpoints().empty() ? "" : checkpoints().back(); };
    const Process process(command(start(more, "30ms", "10ms")));
    std::string seen = newest();
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(eventually([&] { return newest() != seen; }));
      seen = newest();
    }
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().status, 128 + SIGKILL);
    EXPECT_FALSE(fs::exists(out() + "/summary.json"));
  }

  void expect_whole_run(std::uint64_t samples) {
    const json s = summary();
    EXPECT_EQ(s["lost"], 0);
    EXPECT_EQ(s["duplicated"], 0);
    EXPECT_EQ(s["replicas_identical"], true);
    EXPECT_EQ(s["samples"], samples);
    EXPECT_EQ(s["stop_reason"], "budget");
    std::uint64_t made = s["resumed"]["gradients"];
    for (const std::uint64_t count : s["gradients_by_worker"]) made += count;
    EXPECT_EQ(s["gradients"], made);
    for (const auto& entry : fs::directory_iterator(out()))
      if (!entry.path().filename().string().starts_with("trace.")) {
        EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
      }
    EXPECT_FALSE(fs::exists(out() + "/trace.jsonl.partial"));
  }

  TemporaryDirectory directory, images;
};

TEST_F(ResumeApp, AKilledRunGoesOnToTheSameEnd) {
  kill_after(2, "--workers 3 --rule adam --epochs 200 --trace");
  const Outcome resumed = dasgd(resume());
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, AllOf(HasSubstr("resumed    leg 2, from"),
                                 HasSubstr("lost 0, duplicated 0, replicas identical")));
  expect_whole_run(200 * 90);
  EXPECT_GT(summary()["accuracy"], 0.95);
  EXPECT_EQ(dasgd("check " + out() + "/trace.jsonl").status, 0);
  EXPECT_TRUE(fs::exists(out() + "/trace.1.jsonl.partial"));

  // The metrics go on in time, as one series.
  std::ifstream file(out() + "/metrics.jsonl");
  double before = 0;
  std::uint64_t gradients = 0;
  for (std::string line; std::getline(file, line);) {
    const json entry = json::parse(line);
    EXPECT_GE(entry["seconds"], before);
    EXPECT_GE(entry["gradients"], gradients);
    before = entry["seconds"];
    gradients = entry["gradients"];
  }
  EXPECT_EQ(gradients, summary()["gradients"]);
}

TEST_F(ResumeApp, ARunGoesOnFromAnotherDirectory) {
  const fs::path here(images.path());
  const auto in = [](const fs::path& where, const std::string& arguments) {
    return shell("env --chdir=" + where.string() + " " DASGD_BINARY " " + arguments);
  };
  const std::string run = "train --model softmax --batch 5 --epochs 1 --topology file:../" +
                          fs::path(directory.path()).filename().string() + "/links --out " + out();
  directory.write("links", "0 1\n");
  const Outcome trained = in(here, run + " --data .");
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome resumed = in("/", "train --resume " + out() + " --epochs 2");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  expect_whole_run(2 * 90);
}

TEST_F(ResumeApp, APathWithOddCharactersIsReadBack) {
  const TemporaryDirectory odd;
  const fs::path data = fs::path(odd.path()) / "a \"line\"\nand\tmore \xC3\xA9\x7F\\";
  fs::copy(images.path(), data);
  const std::string path = "'" + data.string() + "'";
  const Outcome trained =
      dasgd("train --model softmax --batch 5 --epochs 1 --out " + out() + " --data " + path);
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome resumed = dasgd("train --resume " + out() + " --epochs 2");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(ResumeApp, AValueThatIsNoTextIsRefusedInOneLine) {
  for (const std::string option : {"--data", "--out", "--model"}) {
    const Outcome outcome = dasgd("train " + option + " " + images.file("caf\xE9"));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "dasgd: " + option + " " + images.file("caf?") + ": is not UTF-8 text\n");
  }
}

TEST_F(ResumeApp, AConfigMayBeginWithAByteOrderMark) {
  const std::string config = directory.write(
      "c.toml", "\xEF\xBB\xBFmodel = \"quadratic\"\nlr = 0.02\n[budget]\ngradients = 5\n");
  const Outcome outcome = dasgd("train " + config + " --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(ResumeApp, KilledAtAnyMomentAgainAndAgainItStillArrives) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> milliseconds(20, 600);
  std::string arguments = start("--workers 3 --rule momentum --epochs 2000 --trace --quiet");
  int kills = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const Process process(command(arguments));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    process.signal(SIGKILL);
    const Outcome outcome = process.wait();
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 128 + SIGKILL) << outcome.err;
    kills += outcome.status == 0 ? 0 : 1;
    if (fs::exists(out() + "/config.toml")) arguments = resume("--quiet");
  }
  const Outcome last = dasgd(arguments);
  EXPECT_EQ(last.status, 0) << last.err;
  if (summary().contains("resumed")) expect_whole_run(2000 * 90);
  EXPECT_GT(kills, 0);
  EXPECT_GT(summary()["accuracy"], 0.95);
}

TEST_F(ResumeApp, DamagedCheckpointsAreRefusedByNameAndTheOneBeforeIsUsed) {
  kill_after(3, "--workers 2 --epochs 400");
  auto files = checkpoints();
  ASSERT_GE(files.size(), 3u);  // it may have written another before the signal came
  files.erase(files.begin(), files.end() - 3);
  std::string bytes = read_text(files[2]);
  bytes[bytes.size() / 3] ^= 4;
  std::ofstream(files[2], std::ios::binary) << bytes;
  fs::resize_file(files[1], 100);
  const Outcome resumed = dasgd(resume("--quiet"));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err,
              StartsWith("dasgd: " + files[2] +
                         ": is damaged: its checksum does not match; trying the one before\n" +
                         "dasgd: " + files[1] + ": is truncated; trying the one before\n"));
  expect_whole_run(400 * 90);
}

TEST_F(ResumeApp, IfNoCheckpointIsGoodTheRunIsLeftAlone) {
  kill_after(1, "--workers 2 --epochs 400");
  for (const std::string& file : checkpoints()) fs::resize_file(file, 10);
  const Outcome refused = dasgd(resume());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("checkpoints can be read"));
  EXPECT_FALSE(checkpoints().empty());
}

TEST_F(ResumeApp, AnotherNumberOfWorkersDoesTheRest) {
  kill_after(2, "--workers 3 --rule nesterov --gradients 2000");
  for (const char* workers : {"5", "2"}) {
    const Outcome resumed = dasgd(resume(std::string("--workers ") + workers + " --quiet"));
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(summary()["workers"], std::stoi(workers));
    EXPECT_EQ(summary()["replicas_identical"], true);
    EXPECT_EQ(summary()["lost"], 0);
  }
  EXPECT_GE(summary()["gradients"], 2000 * 5) << "2 workers had nothing left to do after 5";
}

TEST_F(ResumeApp, AnInterruptedRunLosesNothing) {
  const Process process(command(start("--workers 2 --epochs 1000000")));
  ASSERT_TRUE(eventually([&] { return !checkpoints().empty(); }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  const json before = summary();
  const Outcome resumed = dasgd(resume("--epochs 1 --quiet"));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(summary()["gradients"], before["gradients"]);
  EXPECT_EQ(summary()["replica_digest"], before["replica_digest"]);
  EXPECT_GE(summary()["wall_seconds"], before["wall_seconds"]);
}

TEST_F(ResumeApp, KilledBeforeItsFirstCheckpointItBeginsAnew) {
  {
    const Process process(command(start("--epochs 100000", "1h")));
    ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/config.toml"); }));
    process.signal(SIGKILL);
    process.wait();
  }
  const Outcome resumed = dasgd(resume("--epochs 2 --quiet"));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("has no checkpoint yet; starting from the beginning"));
  EXPECT_EQ(summary()["samples"], 180);
}

TEST_F(ResumeApp, KilledWhileAStepIsSearchedForItBeginsAnew) {
  const std::string search =
      "train --model logistic --batch 10 --workers 60 --lr auto "
      "--gradients 100000000 --no-report --out " +
      out();
  const auto stopped_in_search = [&](int signal) {
    const Process process(command(search));
    EXPECT_TRUE(eventually([&] { return fs::exists(out() + "/config.toml"); }));
    process.signal(signal);
    return process.wait();
  };
  EXPECT_EQ(stopped_in_search(SIGINT).status, 130);
  EXPECT_FALSE(fs::exists(out())) << "nothing has begun";
  EXPECT_EQ(stopped_in_search(SIGKILL).status, 128 + SIGKILL);
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("lr = \"auto\""));
  const Outcome resumed = dasgd("train --resume " + out() + " --lr 0.1 --gradients 20 --quiet");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("has no checkpoint yet; starting from the beginning"));
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("lr = 0.1"));
}

TEST_F(ResumeApp, RefusesWhatCannotBeResumed) {
  kill_after(1, "--workers 2 --slow 1:2 --epochs 400");
  const auto refuses = [&](const std::string& arguments, const std::string& what) {
    const Outcome outcome = dasgd(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(fs::exists(out() + "/metrics.jsonl.partial")) << "nothing was touched";
  };
  refuses(resume("--batch 6"), "its batch was 5 and is now 6; that cannot change");
  refuses(resume("--seed 2"), "its seed was 1 and is now 2");
  refuses(resume("--model quadratic --data ''"), "its model was softmax and is now quadratic");
  refuses(resume("--workers 1"),
          "slow: worker 1 does not exist; there are 1, numbered from 0; a setting that is not "
          "given comes "
          "from " +
              out() + "/config.toml");
  refuses(resume("--out " + directory.file("other")), "remove --out");
  refuses("train " + out() + "/config.toml --resume " + out(), "leave");
  refuses("train --resume " + directory.file("nothing"), "has no config.toml");
  refuses("train --resume ''", "--resume \"\": names no directory");
  refuses(resume("--checkpoint-every soon"), "is not a time");
}

// Under the same numbers other columns or classes would be trained on.
TEST_F(ResumeApp, RefusesDataThatMeansSomethingElse) {
  const auto rows = [](const std::string& header, const std::string& oak, const std::string& last) {
    std::string text = header + "\n";
    for (int k = 0; k < 10; ++k)
      text += "1,2," + oak + "\n3,1,pine\n2,2," + oak + "\n" + last + ",1,pine\n";
    return text;
  };
  const std::string table = directory.write("t.csv", rows("a,b,kind", "oak", "4"));
  const std::string all = " --quiet --no-report --validation 0";
  ASSERT_EQ(
      dasgd("train --model softmax --epochs 2 --data " + table + all + " --out " + out()).status,
      0);
  const auto resumed = [&](const std::string& text) {
    directory.write("t.csv", text);
    return dasgd("train --resume " + out() + " --epochs 3 --quiet");
  };
  const Outcome columns = resumed(rows("b,a,kind", "oak", "4"));
  EXPECT_EQ(columns.status, 2);
  EXPECT_THAT(columns.err, HasSubstr("its list of columns was a, b and is now b, a; that cannot"));
  const Outcome classes = resumed(rows("a,b,kind", "zelkova", "4"));
  EXPECT_EQ(classes.status, 2);
  EXPECT_THAT(classes.err, HasSubstr("its list of classes was oak, pine and is now pine, zelkova"));
  const Outcome other = resumed(rows("a,b,kind", "oak", "9"));
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("its list of means was 2.5, 1.5 and is now 3.75, 1.5"));
  const Outcome same = dasgd("train --resume " + out() + " --epochs 4 --quiet");
  EXPECT_EQ(same.err, "") << "the same data by its whole path";
}

TEST_F(ResumeApp, AScheduleThatHasEndedIsNamed) {
  const auto run = [&](const std::string& more) { return dasgd("train --no-report " + more).err; };
  const std::string first = " --model quadratic --workers 1 --gradients 20 --out ";
  run("--schedule cosine:10" + first + out());
  run("--schedule cosine" + first + directory.file("open"));
  EXPECT_THAT(run("--gradients 30 --resume " + out()),
              HasSubstr("the schedule cosine:10 has ended: its step size is 0"));
  EXPECT_THAT(run("--gradients 30 --resume " + directory.file("open")),
              Not(HasSubstr("has ended")));
}

TEST_F(ResumeApp, TwoProcessesNeverShareADirectory) {
  const Process process(command(start("--epochs 1000000")));
  ASSERT_TRUE(eventually([&] { return !checkpoints().empty(); }));
  const Outcome second = dasgd(resume());
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, HasSubstr("another dasgd is running in this directory"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
}

TEST_F(ResumeApp, AFullDiskCostsACheckpointNotTheRun) {
  fs::create_directories(out() + "/checkpoints/checkpoint-000001.dasgd.partial/full");
  const Outcome outcome = dasgd(start("--epochs 2 --quiet", "1h"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("checkpoint-000001.dasgd: cannot be written: "),
                                 HasSubstr("the run ends without its last checkpoint")));
  EXPECT_TRUE(checkpoints().empty());
  fs::remove_all(out() + "/checkpoints");
  EXPECT_EQ(dasgd(start("--epochs 2 --quiet", "0s")).status, 0);
  EXPECT_FALSE(fs::exists(out() + "/checkpoints")) << "0 writes none";
}

TEST_F(ResumeApp, TheBestModelIsKeptAndKnownAfterAResume) {
  {
    const Process process(command(start("--workers 2 --epochs 2000 --eval-every 10ms")));
    ASSERT_TRUE(eventually(
        [&] { return !checkpoints().empty() && fs::exists(out() + "/model.best.json"); }));
    process.signal(SIGKILL);
    process.wait();
  }
  ASSERT_TRUE(fs::exists(out() + "/model.best.npy"));
  const json best = json::parse(read_text(out() + "/model.best.json"));
  const Outcome resumed = dasgd(resume("--quiet"));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_GE(summary()["best_accuracy"], best["accuracy"]);
  EXPECT_GE(summary()["best_accuracy"], summary()["accuracy"]);
  const std::string metrics = read_text(out() + "/metrics.jsonl");
  EXPECT_THAT(metrics, AllOf(HasSubstr("\"accuracy\":"), HasSubstr("\"eval_loss\":")));
}

TEST_F(ResumeApp, StopsEarlyByAccuracyAndByPatience) {
  EXPECT_EQ(dasgd(start("--target-accuracy 0.9 --eval-every 10ms --quiet")).status, 0);
  EXPECT_EQ(summary()["stop_reason"], "target-accuracy");
  EXPECT_GE(summary()["best_accuracy"], 0.9);
  EXPECT_EQ(dasgd(start("--patience 3 --eval-every 10ms --quiet")).status, 0);
  EXPECT_EQ(summary()["stop_reason"], "patience");
  const Outcome simulated =
      dasgd("simulate --model softmax --data " + images.path() +
            " --batch 5 --lr 0.1 --target-accuracy 0.9 --eval-every 100ms --out " + out());
  EXPECT_EQ(simulated.status, 0) << simulated.err;
  EXPECT_EQ(summary()["stop_reason"], "target-accuracy");
  EXPECT_TRUE(fs::exists(out() + "/metrics.jsonl"));
  EXPECT_EQ(dasgd("simulate --patience 2 --out " + out()).status, 2);
}

}  // namespace
}  // namespace dasgd::test
