// Rows that arrive on standard input or at the end of a file.
#include <fstream>

#include "app/elastic.hpp"

namespace dasgd::test {
namespace {

/// Points of the plane with the label that `label` gives them; a row of text each.
template <typename Label, typename Line>
std::string points(int count, Label&& label, Line&& line) {
  std::string text;
  for (int k = 0; k < count; ++k) {
    const double u = (k * 37 % 101 - 50) / 25.0, v = (k * 53 % 97 - 48) / 24.0;
    text += line(u, v, label(u, v)) + "\n";
  }
  return text;
}

std::string csv_line(double u, double v, int label) {
  return std::to_string(u) + "," + std::to_string(v) + "," + std::to_string(label);
}
std::string libsvm_line(double u, double v, int label) {
  return std::to_string(label) + " 1:" + std::to_string(u) + " 2:" + std::to_string(v);
}
int side(double u, double v) { return u + v > 0 ? 1 : 0; }
int quadrant(double u, double v) { return (u > 0 ? 1 : 0) + (v > 0 ? 2 : 0); }

/// All models that learn from streams here.
std::vector<std::string> models() {
  std::vector<std::string> names{"logistic", "softmax"};
  if (DASGD_TORCH) names.push_back("mlp");
  return names;
}

class StreamApp : public App {
 protected:
  /// The command with a file on its standard input.
  std::string piped(const std::string& text, const std::string& arguments) {
    return command(arguments + " --data - --no-report --out " + out() + " < " +
                   directory.write("rows", text));
  }
};

TEST_F(StreamApp, LearnsEveryRowOfAPipeOnce) {
  for (const std::string& model : models()) {
    for (const auto& text : {points(1000, side, csv_line), points(1000, side, libsvm_line)}) {
      const Outcome outcome = shell(piped(text, "train --lr 0.5 --batch 16 --model " + model));
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(summary()["samples"], 1000);
      EXPECT_EQ(summary()["gradients"], 63);
      EXPECT_EQ(summary()["stop_reason"], "samples");
      EXPECT_GT(summary()["accuracy"], model == "mlp" ? 0.8 : 0.95) << model;
      EXPECT_EQ(summary()["replicas_identical"], true);
    }
  }
}

TEST_F(StreamApp, ItsModelPredictsWithTheLabelsOfItsRows) {
  const auto one_or_two = [](double u, double v) { return side(u, v) + 1; };
  const std::string two = points(1000, one_or_two, csv_line),
                    four = points(1000, quadrant, csv_line);
  for (const auto& [model, rows] : {std::pair("logistic", two), {"softmax", four}}) {
    const Outcome trained = shell(piped(rows, std::string("train --lr 0.5 --model ") + model));
    ASSERT_EQ(trained.status, 0) << trained.err;
    const Outcome asked = dasgd("predict " + out() + " " + directory.write("rows.csv", rows) +
                                " --out " + out("answers.csv"));
    EXPECT_EQ(asked.status, 0) << asked.err;
    EXPECT_GT(std::stod(asked.err.substr(asked.err.find_first_of("0123456789"))), 0.9) << asked.err;
  }
}

TEST_F(StreamApp, TheSummaryNamesTheStream) {
  const Outcome outcome = shell(piped(
      points(20, side, csv_line), "train --model logistic --lr 0.5 --batch 1 --total-gradients 1"));
  EXPECT_THAT(outcome.out, HasSubstr("trained logistic on a stream from standard input on"));
  EXPECT_THAT(outcome.out, HasSubstr(", 1 sample ("));
  EXPECT_THAT(dasgd("report --text " + out()).out, HasSubstr("on a stream from standard input"));
}

// Half of the rows have the labels of the other side: what is kept of both is judged, and what came
// last.
TEST_F(StreamApp, ALabelFlipShowsItsRecoveryInTheAccuracyBeforeLearning) {
  const auto other_side = [](double u, double v) { return 1 - side(u, v); };
  const std::string rows = points(4000, side, csv_line) + points(4000, other_side, csv_line);
  for (const std::string& model : models()) {
    const Outcome outcome =
        shell(piped(rows, "train --lr 0.5 --batch 16 --workers 2 --model " + model));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_LT(summary()["accuracy"], 0.6) << "of all rows that are kept";
    EXPECT_GT(summary()["arrivals"]["prequential_accuracy"], 0.9) << model;
    EXPECT_EQ(summary()["arrivals"]["arrived"], 8000);
    EXPECT_EQ(summary()["arrivals"]["learned"], 8000);
    EXPECT_GT(summary()["arrivals"]["arrived_per_second"], 0);
    EXPECT_EQ(summary()["parts"]["train"]["samples"], 8000) << "not the room for them";
    EXPECT_THAT(read_text(out() + "/metrics.jsonl"), HasSubstr("\"prequential_accuracy\""));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("arrived    8,000 samples"),
                                   HasSubstr("; accuracy before learning 0.9"),
                                   HasSubstr("(last 1,000 or fewer)")));
  }
}

TEST_F(StreamApp, SoftmaxLearnsTheClassesOfTheFirstRows) {
  const std::string rows = points(600, quadrant, csv_line);
  const Outcome outcome = shell(piped(rows, "train --model softmax --batch 4 --lr 0.5"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(summary()["accuracy"], 0.9);
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("features = 2\nclasses = 4\n"));
}

TEST_F(StreamApp, AMalformedLineEndsTheRunCleanly) {
  const std::string good = points(100, side, csv_line);
  const Outcome outcome =
      shell(piped(good + "1,oops,0\n" + good, "train --model logistic --quiet"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "dasgd: stdin:101: column 2: \"oops\" is not a number\n");
  EXPECT_EQ(summary()["samples"], 100);
  EXPECT_EQ(summary()["stop_reason"], "failed");
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_TRUE(fs::exists(out() + "/model.npy"));
  EXPECT_TRUE(fs::exists(out() + "/metrics.jsonl"));
}

TEST_F(StreamApp, AClosedStandardInputIsRefused) {
  const Outcome outcome =
      shell("timeout 60 " DASGD_BINARY " train --model logistic --data - --out " + out() + " <&-");
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("stdin: holds no rows"));
}

TEST_F(StreamApp, AnEmptyStreamIsRefused) {
  const Outcome outcome = shell(piped("\n", "train --model logistic"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "dasgd: stdin: holds no rows\n");
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(StreamApp, WhatNeedsDataThatStaysIsRefused) {
  expect_refusal("simulate --model logistic --data - --out " + out(),
                 "simulate needs a finite data set");
  expect_refusal("advise --model logistic --data follow:x", "advise needs a finite data set");
  const auto refuse = [&](const std::string& arguments, const std::string& what) {
    expect_refusal("train --data - " + arguments + " --out " + out(), what);
  };
  refuse("--model quadratic", "streams are for logistic, softmax and networks");
  refuse("--model mlp --device cuda", "streams are learned on the CPU");
  refuse("--model mlp --loss mse", "the labels of a stream are classes");
  refuse("--model mlp --augment flip", "a stream has rows");
  refuse("--model logistic --epochs 2", "for a stream use --total-gradients");
  refuse("--model logistic --lr auto", "give --lr X");
  refuse("--model logistic --sampling shards", "the first worker that asks");
  refuse("--model logistic --batch 0", "needs a finite data set, not a stream");
  refuse("--model logistic --classes 3", "--classes is for softmax");
  refuse("--model logistic --schedule cosine", "write cosine:TOTAL");
  expect_refusal("train --model logistic --features 3 --out " + out(), "is for --data -");
  expect_refusal("train --model logistic --data follow:nothing --out " + out(),
                 "nothing: cannot be followed");
}

/// A named pipe that stays open: dry, but not ended.
class DryPipe : public StreamApp {
 protected:
  void SetUp() override { ASSERT_EQ(::mkfifo(pipe_.c_str(), 0600), 0); }
  void TearDown() override { ::close(writer_); }
  std::string run(const std::string& options) {
    return command("train --model logistic --data - --no-report " + options + " --out " + out() +
                   " < " + pipe_);
  }
  void open_and_write(const std::string& text) {
    writer_ = ::open(pipe_.c_str(), O_WRONLY);
    ASSERT_EQ(::write(writer_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  bool is_running() { return fs::exists(out() + "/metrics.jsonl.partial"); }

  const std::string pipe_ = directory.file("pipe");
  int writer_ = -1;
};

TEST_F(DryPipe, AnInterruptStopsTheRunAndWritesEverything) {
  const Process process(run(""));
  open_and_write(points(40, side, csv_line));
  ASSERT_TRUE(eventually([&] { return is_running(); }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  EXPECT_EQ(summary()["stop_reason"], "interrupted");
  EXPECT_EQ(summary()["waited_seconds"], json({0.0, 0.0}));
}

TEST_F(DryPipe, AnInterruptBeforeTheFirstRowLeavesNothing) {
  const Process process(run(""));
  open_and_write("u,v,label\n");
  ASSERT_TRUE(eventually([&] { return process.sleeps(); }));
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stopping: "), Not(HasSubstr("gradients"))));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(DryPipe, TimeAndBudgetsEndTheRun) {
  const Process timed(run("--max-time 2s"));
  open_and_write(points(40, side, csv_line));
  EXPECT_EQ(timed.wait().status, 0);
  EXPECT_EQ(summary()["stop_reason"], "max-time");
  ::close(writer_);
  const Process counted(run("--batch 10 --total-gradients 4"));
  open_and_write(points(40, side, csv_line));
  EXPECT_EQ(counted.wait().status, 0);
  EXPECT_EQ(summary()["stop_reason"], "budget");
  EXPECT_EQ(summary()["gradients"], 4);
}

TEST_F(DryPipe, RowsAreLearnedWhileTheStreamIsOpen) {
  const Process process(run("--batch 10"));
  open_and_write(points(20, side, csv_line));
  const auto samples = [&] {
    const std::string lines = read_text(out() + "/metrics.jsonl.partial");
    return lines.find("\"samples\":20") != lines.npos;
  };
  EXPECT_TRUE(eventually(samples));
  const std::string more = points(15, side, csv_line);
  ASSERT_GT(::write(writer_, more.data(), more.size()), 0);
  ::close(writer_);
  writer_ = -1;
  EXPECT_EQ(process.wait().status, 0);
  EXPECT_EQ(summary()["samples"], 35);
  EXPECT_EQ(summary()["gradients"], 4);
}

#if DASGD_TORCH
TEST_F(StreamApp, ANetworkThatLearnedFromAStreamAnswers) {
  const std::string rows = points(1000, quadrant, csv_line);
  const Outcome outcome = shell(piped(rows, "train --model mlp --batch 16 --lr 0.1"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("mlp: ")) << "what computes";
  const double accuracy = summary()["accuracy"];
  EXPECT_GT(accuracy, 0.8);
  EXPECT_EQ(summary()["parts"]["train"]["samples"], 1000);
  const Outcome answers = dasgd("predict " + out() + " " + directory.write("rows.csv", rows) +
                                " --out " + directory.file("answers.csv"));
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_THAT(read_text(directory.file("answers.csv")), HasSubstr("row,prediction,p_0,p_1,p_2"));
  const Outcome images = shell(piped(rows, "train --model cnn --quiet"));
  EXPECT_EQ(images.status, 2);
  EXPECT_THAT(images.err, HasSubstr("cnn"));
}
#endif

TEST_F(StreamApp, FollowsAFileWhileLinesAreAppended) {
  const std::string file = directory.write("rows", points(30, side, libsvm_line));
  const Process process(
      command("train --model logistic --batch 10 --total-gradients 5 --no-report "
              "--data follow:" +
              file + " --out " + out()));
  ASSERT_TRUE(eventually([&] { return fs::exists(out() + "/metrics.jsonl.partial"); }));
  std::ofstream(file, std::ios::app) << points(20, side, libsvm_line);
  EXPECT_EQ(process.wait().status, 0);
  EXPECT_EQ(summary()["gradients"], 5);
  EXPECT_EQ(summary()["samples"], 50);
  EXPECT_EQ(summary()["stop_reason"], "budget");
}

/// `fed NAME FROM ARGUMENTS` is a member with that on its standard input.
constexpr const char* fed = R"(
    fed() { local n=$1 from=$2; shift 2
      ("$D" "$@" --name $n --no-report < $from > $n.log 2>&1 & echo $! > $n.pid
       wait $!; echo $? > $n.status) & }
    train() { fed a $1 train --model logistic --lr 0.5 --batch 10 --eval-every 0 --out a --data - \
      --listen 127.0.0.1:0 ${@:2}; found a/address; }
    join() { fed b $1 join $(cat a/address) --token-file a/token --out b --data $2; }
    mkfifo pipe
)";

// Each member has rows of its own: one reads them from a pipe, the other follows a file.
TEST_F(ElasticApp, MembersLearnFromStreamsOfTheirOwn) {
  directory.write("rows", points(400, side, csv_line));
  const Outcome outcome = script(std::string(fed) + R"(
    (cat rows; eventually [ -s a.status ]) > pipe &
    train pipe --total-gradients 80
    join /dev/null follow:rows
    ended a b
  )");
  EXPECT_THAT(outcome.out, HasSubstr("a 0\nb 0\n")) << outcome.err;
  for (const std::string name : {"a", "b"}) {
    EXPECT_EQ(summary_of(name)["gradients"], 80) << name;
    EXPECT_EQ(summary_of(name)["replicas_identical"], true);
    EXPECT_GT(summary_of(name)["accuracy"], 0.9);
    EXPECT_EQ(summary_of(name)["arrivals"]["arrived"], 400) << "its own rows";
    EXPECT_EQ(summary_of(name)["arrivals"]["learned_by"], "all members");
  }
}

TEST_F(ElasticApp, ARunEndsWhenTheStreamsOfAllMembersHaveEnded) {
  directory.write("rows", points(400, side, csv_line));
  const Outcome outcome = script(std::string(fed) + R"(
    (cat rows; found b.joined) > pipe &
    train pipe
    join rows -
    eventually shows a '^ *b '; echo yes > b.joined
    ended a b
  )");
  EXPECT_THAT(outcome.out, HasSubstr("a 0\nb 0\n")) << outcome.err;
  EXPECT_EQ(summary_of("a")["stop_reason"], "samples");
  EXPECT_EQ(summary_of("a")["samples"], 800);
  EXPECT_EQ(summary_of("b")["replicas_identical"], true);
}

}  // namespace
}  // namespace dasgd::test
