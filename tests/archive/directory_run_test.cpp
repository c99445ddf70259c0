// Runs of a program of one's own, which leave a directory behind.
#include "dasgd/archive/directory_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/file_size_limit.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using test::message_of;
using test::read_text;
using ::testing::AllOf;
using ::testing::HasSubstr;

class DirectoryRunTest : public ::testing::Test {
 protected:
  std::string path() const { return directory.file("run"); }
  std::string file(const std::string& name) const { return path() + "/" + name; }
  json summary() const { return json::parse(read_text(file("summary.json"))); }

  DirectoryOptions where(bool resume = false) const {
    return {.path = path(), .resume = resume, .trace = true};
  }
  static TrainOptions options(std::uint64_t total) {
    return {.workers = 2,
            .eta = 0.005,
            .total_gradients = total,
            .checkpoint = {.every = 1h, .save = {}}};
  }
  auto train(std::uint64_t total, bool resume = false) const {
    return train_into<double>(where(resume), problem, options(total));
  }
  void expect_nothing_partial() const {
    for (const auto& entry : fs::recursive_directory_iterator(path()))
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
  }

  const test::TemporaryDirectory directory;
  const Quadratic problem = Quadratic::random(1);
};

TEST_F(DirectoryRunTest, LeavesEverythingOfARunInAFreshDirectory) {
  const auto result = train(200);
  for (const char* name :
       {"metrics.jsonl", "summary.json", "model.npy", "trace.jsonl", "checkpoints", "charts"})
    EXPECT_TRUE(fs::exists(file(name))) << name;
  EXPECT_FALSE(fs::exists(file("config.toml"))) << "a program has none";
  EXPECT_FALSE(fs::is_empty(file("checkpoints")));
  expect_nothing_partial();
  EXPECT_EQ(result.summary.gradients, 200u);
  EXPECT_EQ(summary()["gradients"], 200);
  EXPECT_EQ(summary()["replica_digest"], result.summary.replica_digest);
}

TEST_F(DirectoryRunTest, WhatIsNotWantedIsNotWritten) {
  TrainOptions plain = options(50);
  plain.checkpoint.every = 0s;
  train_into<double>({.path = path(), .report = false}, problem, plain);
  EXPECT_TRUE(fs::exists(file("summary.json")));
  for (const char* name : {"trace.jsonl", "checkpoints", "charts", "charts"})
    EXPECT_FALSE(fs::exists(file(name))) << name;
}

TEST_F(DirectoryRunTest, GoesOnAndItsBudgetsCountTheWholeRun) {
  train(200);
  const auto resumed = train(500, true);
  EXPECT_EQ(resumed.summary.gradients, 500u);
  EXPECT_EQ(summary()["resumed"]["gradients"], 200);
  EXPECT_EQ(summary()["gradients"], 500);
  EXPECT_TRUE(fs::exists(file("trace.1.jsonl")));
  expect_nothing_partial();
  const auto nothing_left = train(500, true);
  EXPECT_EQ(nothing_left.summary.gradients, 500u);
  EXPECT_EQ(nothing_left.summary.replica_digest, resumed.summary.replica_digest);
}

TEST_F(DirectoryRunTest, ToGoOnWithNothingIsToBegin) {
  std::string warning;
  TrainOptions begin = options(100);
  begin.warn = [&](const std::string& line) { warning += line; };
  EXPECT_EQ(train_into<double>(where(true), problem, begin).summary.gradients, 100u);
  EXPECT_THAT(warning, HasSubstr("has no checkpoint yet; starting from the beginning"));
}

TEST_F(DirectoryRunTest, AnotherRuleIsSaidToBeginWithAnEmptyState) {
  train(200);
  std::string warning;
  TrainOptions momentum = options(300);
  momentum.rule.kind = RuleOptions::Kind::momentum;
  momentum.warn = [&](const std::string& line) { warning += line; };
  train_into<double>(where(true), problem, momentum);
  EXPECT_THAT(warning, HasSubstr("its rule was sgd and is now momentum; its state starts empty"));
}

TEST_F(DirectoryRunTest, RefusesToGoOnWithAnotherModelAndTouchesNothing) {
  DirectoryOptions named = where();
  named.facts = {{"model", "valley"}};
  train_into<double>(named, problem, options(100));
  const std::string before = read_text(file("summary.json"));
  named.resume = true;
  named.facts = {{"model", "hill"}};
  EXPECT_EQ(message_of<InputError>([&] { train_into<double>(named, problem, options(200)); }),
            "`checkpoint.resume` " + path() +
                ": its model was valley and is now hill; that cannot change");
  named.facts = {};
  const Logistic other = Logistic::random(1);
  EXPECT_NE(message_of<InputError>([&] { train_into<double>(named, other, options(200)); }), "");
  EXPECT_EQ(read_text(file("summary.json")), before);
}

TEST_F(DirectoryRunTest, GoesOnWithAFileThatAnEarlierVersionNamedAsItWasTyped) {
  DirectoryOptions named = where();
  named.facts = {{"model", "../mine/model.pt"}};
  train_into<double>(named, problem, options(100));
  named.resume = true;
  named.facts = {{"model", "/data/yours/model.pt"}};
  EXPECT_THAT(message_of<InputError>([&] { train_into<double>(named, problem, options(200)); }),
              HasSubstr("that cannot change"));
  named.facts = {{"model", "/data/mine/model.pt"}};
  EXPECT_EQ(train_into<double>(named, problem, options(200)).summary.gradients, 200u);
}

TEST_F(DirectoryRunTest, RefusesADirectoryOfSomebodyElse) {
  fs::create_directory(path());
  const std::string words = "# mine\nworkers = 3\n";
  directory.write("run/config.toml", words);
  for (const bool resume : {false, true})
    EXPECT_THAT(message_of<InputError>([&] { train(10, resume); }),
                HasSubstr("has files that do not belong to a run"));
  EXPECT_EQ(read_text(file("config.toml")), words);
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), fs::directory_iterator()), 1);
}

TEST_F(DirectoryRunTest, WhereFilesCannotGrowTheModelAndTheSummaryAreKept) {
  std::string what;
  {
    const test::FileSizeLimit full(16'384);  // the trace of 2,000 applications is larger
    what = message_of<WriteError>([&] { train(1000); });
  }
  EXPECT_THAT(what, HasSubstr("trace.jsonl"));
  EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 0) << what;
  EXPECT_TRUE(fs::exists(file("model.npy")));
  EXPECT_EQ(summary()["lost"], 0);
  EXPECT_EQ(summary()["stop_reason"], "budget") << "training goes on without its trace";
  EXPECT_TRUE(fs::exists(file("metrics.jsonl")));
  EXPECT_FALSE(fs::exists(file("trace.jsonl"))) << "half a trace has not its name";
}

TEST_F(DirectoryRunTest, ALostTraceIsNotAFailureWhereItIsWarnedOf) {
  std::vector<std::string> said;
  TrainOptions warned = options(1000);
  warned.warn = [&](const std::string& line) { said.push_back(line); };
  {
    const test::FileSizeLimit full(16'384);
    train_into<double>({.path = path(), .trace = true, .report = false}, problem, warned);
  }
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(
      said[0],
      HasSubstr("trace.jsonl: cannot be written: File too large; the run continues without it"));
  EXPECT_EQ(summary()["stop_reason"], "budget");
  expect_nothing_partial();
}

TEST_F(DirectoryRunTest, LinesOfMetricsThatCannotBeWrittenAreLeftOut) {
  std::vector<std::string> said;
  TrainOptions warned = options(1);
  warned.total_gradients.reset();
  warned.max_time = 10min;
  warned.report_every = 1ms;
  warned.warn = [&](const std::string& line) { said.push_back(line); };
  std::optional<test::FileSizeLimit> full;
  int reports = 0, after = 0;
  const auto watch = [&](const Progress<double>&) {
    if (++reports == 3) full.emplace(fs::file_size(partial_path(file("metrics.jsonl"))) + 10);
    if (!said.empty() && full) {
      full.reset();  // there is room again
      after = reports;
    }
    return after > 0 && reports > after + 3 ? Flow::stop : Flow::go_on;
  };
  train_into<double>({.path = path()}, problem, warned, {watch});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("metrics.jsonl: cannot be written: File too large; the run "
                                 "continues, and skips lines until there is room"));
  std::istringstream lines(read_text(file("metrics.jsonl")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(json::accept(line)) << line;
  EXPECT_GT(count, 5);
}

TEST_F(DirectoryRunTest, AFailureIsThrownAndTheRunIsWrittenAllTheSame) {
  TrainOptions wild = options(10'000);
  wild.eta = 1e6;
  EXPECT_THROW(train_into<double>(where(), problem, wild), Divergence);
  EXPECT_EQ(summary()["replicas_identical"], true);
  EXPECT_TRUE(fs::exists(file("model.npy")));
  expect_nothing_partial();
}

TEST_F(DirectoryRunTest, ACallbackOfTheCallerStopsTheRun) {
  TrainOptions endless = options(1);
  endless.total_gradients.reset();
  endless.max_time = 10min;
  endless.report_every = 1ms;
  const auto result = train_into<double>(where(), problem, endless,
                                         {[](const Progress<double>&) { return Flow::stop; }});
  EXPECT_EQ(result.summary.stop_reason, StopReason::callback);
  EXPECT_TRUE(fs::exists(file("summary.json")));
}

TEST_F(DirectoryRunTest, ASimulationLeavesTheSame) {
  const auto simulate_once = [&] {
    const RunDirectory made(path(), "quadratic");
    return simulate_into<double>(made, true, problem, options(300), [&](const TrainOptions& all) {
      return Simulated<double>{run_simulation<double>(problem, all, VirtualWorld())};
    });
  };
  const auto once = simulate_once();
  EXPECT_FALSE(once.failure);
  const std::string trace = read_text(file("trace.jsonl")), said = read_text(file("metrics.jsonl"));
  EXPECT_EQ(summary()["gradients"], 300);
  expect_nothing_partial();
  simulate_once();
  EXPECT_EQ(read_text(file("trace.jsonl")), trace);
  EXPECT_EQ(read_text(file("metrics.jsonl")), said);
}

}  // namespace
}  // namespace dasgd
