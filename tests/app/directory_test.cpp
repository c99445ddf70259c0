#include <unistd.h>

#include "app/app.hpp"
#include "support/made_tables.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, RefusesAnOutDirectoryThatCannotBeWritten) {
  const std::string file = directory.write("file", "x");
  const Outcome below_file = dasgd("train --model quadratic --out " + file + "/run");
  EXPECT_EQ(below_file.status, 2);
  EXPECT_THAT(below_file.err, HasSubstr("cannot be made a directory"));
  const Outcome system = dasgd("train --model quadratic --out /proc/dasgd");
  EXPECT_EQ(system.status, 2);
  EXPECT_THAT(system.err, HasSubstr("--out /proc/dasgd"));
}

TEST_F(App, ADirectoryInPlaceOfAFileIsNamed) {
  const std::string table = directory.write("d.csv", clusters_csv(200, 1));
  const auto refuses = [&](const std::string& command, const std::string& path) {
    const Outcome outcome = dasgd(command);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr(path + ": is a directory, not a file\n")) << command;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  for (const std::string command : {"check ", "predict ", "simulate --from ", "advise --from "}) {
    const bool predicts = command == "predict ";
    ASSERT_EQ(dasgd("train --workers 1 --epochs 1 --trace --no-report --data " + table + " --out " +
                    out())
                  .status,
              0);
    const std::string path = out() + (predicts ? "/preprocessing.json" : "/summary.json");
    fs::remove(path);
    fs::create_directory(path);
    refuses(command + out() + (predicts ? " " + table : ""), path);
    fs::remove_all(out());
  }
  const std::string run = "simulate --model quadratic --out " + out(), here = directory.path();
  for (const std::string option : {" --latency file:", " --topology file:", " --arrivals "})
    refuses(run + option + here, here);
}

TEST_F(App, ADiskThatFillsUpWhileTheTraceIsWrittenCostsTheTraceAndNothingElse) {
  for (const char* engine : {"train", "simulate"}) {
    const Outcome outcome =
        shell("sh -c 'ulimit -f 2000 && exec " + command(engine) +
              " --model quadratic --lr 0.0001 --gradients 20000 --trace --quiet "
              "--no-report --out " +
              out() + "'");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(
        outcome.err,
        HasSubstr(
            "trace.jsonl: cannot be written: File too large; the run continues without it\n"));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(summary()["replicas_identical"], true);
    EXPECT_EQ(summary()["stop_reason"], "budget");
    EXPECT_TRUE(fs::exists(out() + "/model.npy"));
    EXPECT_TRUE(fs::exists(out() + "/metrics.jsonl"));
    EXPECT_FALSE(fs::exists(out() + "/trace.jsonl"));
    for (const auto& entry : fs::directory_iterator(out()))
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
  }
}

/// A disk of its own for one command: a file system in memory that only its processes see.
class SmallDisk : public App {
 protected:
  void SetUp() override {
    fs::create_directory(disk());
    const Outcome tried = on_disk("64k", "true");
    if (tried.status != 0)
      GTEST_SKIP() << "needs the privilege to mount a tmpfs: root, or unprivileged user "
                      "namespaces: "
                   << tried.err;
  }
  std::string disk() { return directory.file("disk"); }

  /// Runs shell commands; what they leave in run/ on the disk is at out() afterwards.
  Outcome on_disk(const std::string& size, const std::string& commands) {
    const std::string script = directory.write(
        "script", "mount -t tmpfs -o size=" + size + " tmpfs " + disk() + " || exit 77\ncd " +
                      disk() + "\n" + commands + "\nstatus=$?\n[ ! -e run ] || cp -r run " + out() +
                      "\nexit $status\n");
    return shell(std::string("unshare ") + (::geteuid() == 0 ? "-m" : "-rm") + " sh " + script);
  }
  void expect_whole_run() {
    for (const char* name : {"model.npy", "summary.json", "metrics.jsonl"})
      EXPECT_TRUE(fs::exists(out() + "/" + name)) << name;
    for (const auto& entry : fs::recursive_directory_iterator(out()))
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
    EXPECT_EQ(summary()["lost"], 0);
  }
};

TEST_F(SmallDisk, ATraceThatFillsItIsGivenUpAndTheRunGoesOnToItsEnd) {
  for (const char* engine : {"train", "simulate"}) {
    fs::remove_all(out());
    const Outcome outcome =
        on_disk("2m", command(engine) +
                          " --model quadratic --lr 0.0001 --workers 2 --gradients 20000 --trace "
                          "--quiet --no-report --out run");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err,
              "dasgd: run/trace.jsonl: cannot be written: No space left on device; the run "
              "continues without it\n");
    expect_whole_run();
    EXPECT_EQ(summary()["stop_reason"], "budget");
    EXPECT_FALSE(fs::exists(out() + "/trace.jsonl"));
  }
}

TEST_F(SmallDisk, FilledByOthersItStillHasRoomForModelAndSummary) {
  const Outcome outcome = on_disk(
      "4m", command("train --model quadratic --lr 0.0001 --workers 2 --max-time 10min --trace "
                    "--checkpoint-every 1s --quiet --no-report --out run & run=$!\n") +
                "until [ -s run/metrics.jsonl.partial ] || ! kill -0 $run; do sleep 0.1; done\n"
                "cat /dev/zero >others 2>/dev/null\n"
                "while [ -e run/trace.jsonl.partial ] && kill -0 $run; do sleep 0.1; done\n"
                "cat /dev/zero >>others 2>/dev/null\n"
                "kill -INT $run; wait $run");
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("trace.jsonl: cannot be written: No space left on device; "
                                     "the run continues without it\n"));
  expect_whole_run();
  EXPECT_EQ(summary()["stop_reason"], "interrupted");
}

TEST_F(SmallDisk, WithoutRoomForTheModelNothingBegins) {
  const Outcome outcome = on_disk("64k", command("train --model quadratic --quiet --out run"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--out run: has no room for 0.1 MB, which model and summary "
                                     "need at the end; free some or choose another directory\n"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(App, WhatCannotBeWrittenCostsNothingThatCan) {
  for (const std::string name : {"model.npy", "summary.json", "report.html"}) {
    fs::remove_all(out());
    fs::create_directories(out() + "/" + name + ".partial/full");
    const Outcome outcome =
        dasgd("train --model quadratic --lr 0.0001 --gradients 20 --trace --quiet --out " + out());
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr(name + ": cannot be written: "), HasSubstr("not written: ")));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string other : {"model.npy", "summary.json", "metrics.jsonl", "trace.jsonl"})
      EXPECT_EQ(fs::exists(out() + "/" + other), other != name) << name << ", " << other;
  }
}

TEST_F(App, ANewRunNeverMixesWithAnOldOne) {
  dasgd("train --model quadratic --gradients 10 --trace --out " + out());
  ASSERT_TRUE(fs::exists(out() + "/trace.jsonl"));
  dasgd("train --model quadratic --gradients 10 --out " + out());
  EXPECT_FALSE(fs::exists(out() + "/trace.jsonl"));
  std::ofstream(out() + "/trace.jsonl.partial") << "left by a killed run";
  dasgd("train --model quadratic --gradients 10 --out " + out());
  EXPECT_FALSE(fs::exists(out() + "/trace.jsonl.partial"));
}

TEST_F(App, ADirectoryWithFilesOfAPersonIsRefusedAndNotTouched) {
  const std::string words = "# ours, with care\nmodel = \"quadratic\"  # small\n";
  for (const std::string command : {"train", "simulate"}) {
    const TemporaryDirectory mine;
    mine.write("config.toml", words);
    mine.write("model.pt", "of another program");
    fs::create_directory(mine.file("charts"));
    mine.write("charts/loss.svg", "<svg/>");
    for (const std::string arguments : {"config.toml --out .", "--model model.pt --out ."}) {
      const Outcome refused =
          shell("env -C " + mine.path() + " " DASGD_BINARY " " + command + " " + arguments);
      EXPECT_EQ(refused.status, 2) << command << " " << arguments;
      EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
      EXPECT_EQ(refused.out, "");
    }
    const Outcome refused =
        shell("env -C " + mine.path() + " " DASGD_BINARY " " + command + " config.toml --out .");
    EXPECT_EQ(
        refused.err,
        "dasgd: --out .: has files that do not belong to a run; choose a new or empty directory\n");
    EXPECT_EQ(read_text(mine.file("config.toml")), words);
    EXPECT_EQ(read_text(mine.file("model.pt")), "of another program");
    EXPECT_EQ(read_text(mine.file("charts/loss.svg")), "<svg/>");
    EXPECT_EQ(std::distance(fs::directory_iterator(mine.path()), fs::directory_iterator()), 3);
  }
}

}  // namespace
}  // namespace dasgd::test
