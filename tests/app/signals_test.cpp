#include <csignal>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class Signals : public App, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(App, Signals, ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGUSR1));

// Several at once are one wish: timeout(1) signals its process, and then the group it is in.
TEST_P(Signals, TheFirstStopsCleanlyAndWritesEverything) {
  const Process process(
      command("train --model quadratic --workers 4 --topology ring --lr 1e-5 --max-time 10min "
              "--trace --out " +
              out()));
  ASSERT_TRUE(eventually([&] {
    return fs::exists(out() + "/trace.jsonl.partial") &&
           fs::file_size(out() + "/trace.jsonl.partial") > 0;
  }));
  for (const int signal : {GetParam(), SIGTERM, SIGINT, GetParam()}) process.signal(signal);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_EQ(summary()["stop_reason"], "interrupted");
  EXPECT_EQ(summary()["lost"], 0);
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_EQ(dasgd("check " + out()).status, 0);
}

TEST_F(App, OneSignalIsEnoughWhileDataIsReadFromAPipe) {
  const std::string pipe = directory.file("pipe.csv"), model = out("model");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string table = "x,label\n";
  for (int k = 0; k < 12; ++k) table += "0,0\n1,1\n";
  const std::string rows = directory.write("rows.csv", table);
  ASSERT_EQ(
      dasgd("train --model softmax --validation 0 --no-report --data " + rows + " --out " + model)
          .status,
      0);
  const std::string run = " --model softmax --data " + pipe + " --out " + out();
  for (const bool has_writer : {false, true})
    for (const std::string& arguments :
         {"train" + run, "simulate" + run, "compare" + run, "advise --model softmax --data " + pipe,
          "predict " + model + " " + pipe}) {
      const int writer = has_writer ? ::open(pipe.c_str(), O_RDWR) : -1;
      const Process process(command(arguments));
      ASSERT_TRUE(eventually([&] { return process.sleeps(); }));
      process.signal(SIGINT);
      const Outcome outcome = process.wait();
      if (writer >= 0) ::close(writer);
      EXPECT_EQ(outcome.status, 130) << arguments;
      EXPECT_EQ(outcome.err, "") << arguments;
      EXPECT_FALSE(fs::exists(out())) << arguments;
    }
}

/// A pipe that is full and that nobody reads: what writes to it blocks.
class FullPipe {
 public:
  explicit FullPipe(std::string path) : path_(std::move(path)) {
    if (::mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("no pipe can be made");
    reader_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK);
    const std::string page(4096, 'x');
    while (::write(reader_, page.data(), page.size()) > 0) {
    }
  }
  ~FullPipe() { ::close(reader_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int reader_;
};

TEST_F(App, TheSecondSignalLeavesAtOnce) {
  const FullPipe pipe(directory.file("pipe"));  // blocks the end of the run
  const Process process(command("train --model quadratic --lr 1e-5 --max-time 10min --out " +
                                out() + " >" + pipe.path()));
  ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/metrics.jsonl.partial"); }));
  EXPECT_TRUE(eventually([&] {  // those that come soon after the first are one with it
    process.signal(SIGINT);
    return process.has_ended();
  }));
  EXPECT_EQ(process.wait().status, 130);
}

TEST_F(App, AStopThatDoesNotEndIsLeftAfterItsLimit) {
  const FullPipe pipe(directory.file("pipe"));
  const Process process("env DASGD_STOP_LIMIT=1 " +
                        command("train --model quadratic --lr 1e-5 --max-time 10min --out " +
                                out() + " >" + pipe.path()));
  ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/metrics.jsonl.partial"); }));
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_THAT(outcome.err, HasSubstr("dasgd: the stop took too long; "));
}

TEST_F(App, AStandardErrorThatTakesNothingKeepsNothingFromStopping) {
  const FullPipe pipe(directory.file("pipe"));
  for (const bool is_asked : {true, false}) {  // else by --max-time, once a line of progress is due
    const Process process(command(std::string("train --model quadratic --lr 1e-5 --out ") + out() +
                                  (is_asked ? " --max-time 10min" : " --max-time 3s") + " 2>" +
                                  pipe.path()));
    if (is_asked) {
      ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/metrics.jsonl.partial"); }));
      process.signal(SIGTERM);
    }
    ASSERT_TRUE(eventually([&] { return process.has_ended(); })) << is_asked;
    EXPECT_EQ(process.wait().status, is_asked ? 130 : 0);
    EXPECT_EQ(summary()["stop_reason"], is_asked ? "interrupted" : "max-time");
    fs::remove_all(out());
  }
}

TEST_F(App, WhatNohupIgnoresStaysIgnored) {
  const Process process("nohup " + command("train --model quadratic --lr 1e-5 --max-time 10min "
                                           "--quiet --trace --out " +
                                           out()));
  ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/trace.jsonl.partial"); }));
  process.signal(SIGHUP);
  const auto size = [&] { return fs::file_size(out() + "/trace.jsonl.partial"); };
  const auto before = size();
  EXPECT_TRUE(eventually([&] { return size() > before + 100'000; }));  // it goes on
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().status, 130);
}

// Each would hold a gradient back for an hour or longer.
TEST_F(App, AStopWaitsForNoChaos) {
  for (const char* chaos : {"--partition '0|1:0s:60min'", "--delay 0.9:60min", "--drop 0.9999999",
                            "--pause 1:0s:60min", "--slow 1:1000000 --compute 1s"}) {
    for (const std::string engine : {"train", "simulate"}) {
      if (engine == "simulate" && std::string(chaos).starts_with("--slow")) continue;
      const Process process(command(engine +
                                    " --model quadratic --lr 1e-6 --max-time 600min --quiet " +
                                    "--no-report --out " + out() + " " + chaos));
      ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/config.toml"); }));
      process.signal(SIGTERM);
      EXPECT_TRUE(eventually([&] { return process.has_ended(); })) << engine << " " << chaos;
      EXPECT_EQ(process.wait().status, 130) << engine << " " << chaos;
      EXPECT_EQ(summary()["replicas_identical"], true) << engine << " " << chaos;
      fs::remove_all(out());
    }
  }
}

}  // namespace
}  // namespace dasgd::test
