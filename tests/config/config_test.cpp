// What resolve() fills in and what it refuses.
#include "dasgd/config/config.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::config {
namespace {

using test::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config of_model(const std::string& model, const std::string& data = "") {
  Config config;
  config.problem.model = model;
  config.problem.data = data;
  return config;
}

Config resolved(Config config) {
  resolve(config);
  return config;
}

std::string refusal(Config config) {
  return message_of<InputError>([&] { resolve(config); });
}

/// As if so many ranks had been started. Variables of a launcher that started the tests are put
/// back.
class Ranks {
 public:
  explicit Ranks(std::size_t count) {
    set("OMPI_COMM_WORLD_RANK", "0");
    set("OMPI_COMM_WORLD_SIZE", std::to_string(count).c_str());
  }
  ~Ranks() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

 private:
  void set(const std::string& name, const char* value) {
    const char* const old = std::getenv(name.c_str());
    before_[name] = old ? std::optional<std::string>(old) : std::nullopt;
    ::setenv(name.c_str(), value, 1);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST(Resolve, FillsInTheModelsOwnDataStepBatchAndBudget) {
  const Config softmax = resolved(of_model("softmax"));
  EXPECT_EQ(softmax.problem.data, "fashion-mnist");
  EXPECT_EQ(softmax.run.eta, 0.05);
  EXPECT_EQ(softmax.run.batch, 64u);
  EXPECT_EQ(softmax.run.epochs, 5);
  EXPECT_EQ(resolved(of_model("resnet18")).problem.data, "cifar10");
  EXPECT_EQ(resolved(of_model("cnn")).run.batch, 32u);
  EXPECT_EQ(softmax.run.workers, 2u);
  EXPECT_EQ(resolved(of_model("linear", "mine")).run.workers, 1u);

  const Config quadratic = resolved(of_model("quadratic"));
  EXPECT_EQ(quadratic.problem.data, "") << "the paper's instance is drawn";
  EXPECT_EQ(quadratic.run.eta, 0.01);
  EXPECT_EQ(quadratic.run.batch, 0u);
  EXPECT_THAT(quadratic.run.gradients, ElementsAre(1000));
  EXPECT_FALSE(quadratic.run.epochs);
  EXPECT_EQ(resolved(of_model("logistic")).run.eta, 0.1);
}

TEST(Resolve, ASmallTableIsPassedOverMoreOften) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("t.csv", "x,y,label\n1,2,a\n");
  const auto epochs = [&](const std::string& model, std::size_t bytes) {
    std::filesystem::resize_file(path, bytes);
    return resolved(of_model(model, path)).run.epochs;
  };
  EXPECT_EQ(epochs("softmax", 2'500'000), 20);
  EXPECT_EQ(epochs("linear", 2'500'000), 20);
  EXPECT_EQ(epochs("softmax", 100), 100);
  EXPECT_EQ(epochs("softmax", 20'000'000), 5) << "as for any other data";
  EXPECT_EQ(epochs("mlp", 100), 5) << "a network learns small tables by heart";
  EXPECT_EQ(epochs("mlp", 20'000'000), 3);
  Config few = of_model("softmax", path);
  few.run.epochs = 1;
  EXPECT_EQ(resolved(few).run.epochs, 1) << "a budget was given";
}

TEST(Resolve, KeepsWhatWasGiven) {
  Config config = of_model("softmax", "mine");
  config.lr = 0.5;
  config.run.batch = 7;
  config.workers = 3;
  config.run.relay = RelayMode::apply;
  config.run.total_gradients = 10;
  config = resolved(config);
  EXPECT_EQ(config.problem.data, "mine");
  EXPECT_EQ(config.run.eta, 0.5);
  EXPECT_EQ(config.run.batch, 7u);
  EXPECT_EQ(config.run.workers, 3u);
  EXPECT_EQ(config.run.relay, RelayMode::apply);
  EXPECT_FALSE(config.run.epochs) << "a budget was given";
}

TEST(Resolve, ATargetOrATimeIsBudgetEnough) {
  for (const auto& set : std::vector<std::function<void(TrainOptions&)>>{
           [](TrainOptions& run) { run.max_time = std::chrono::seconds(1); },
           [](TrainOptions& run) { run.target_loss = 0.1; },
           [](TrainOptions& run) { run.target_error = 0.1; }}) {
    Config config = of_model("quadratic");
    set(config.run);
    EXPECT_TRUE(resolved(config).run.gradients.empty());
  }
}

TEST(Resolve, WorkersAreThoseOfTheTopologyOrTwo) {
  Config config = of_model("quadratic");
  EXPECT_EQ(resolved(config).run.workers, 2u);
  config.run.topology = "torus:3x4";
  EXPECT_EQ(resolved(config).run.workers, 12u);
  config.workers = 5;
  EXPECT_THAT(refusal(config), HasSubstr("torus:3x4"));
}

TEST(Resolve, TheRelayIsThatOfTheGraphAndMustDeliver) {
  Config config = of_model("quadratic");
  config.workers = 4;
  EXPECT_EQ(resolved(config).run.relay, RelayMode::none);
  config.run.topology = "ring";
  EXPECT_EQ(resolved(config).run.relay, RelayMode::arrival);
  config.run.relay = RelayMode::none;
  EXPECT_NE(refusal(config), "");
}

TEST(Resolve, EvaluationIsEveryTenSecondsWhereNothingWasSaid) {
  Config config;
  set_default_evaluation(config);
  EXPECT_EQ(config.run.evaluation.every, std::chrono::seconds(10));
  Config given;
  given.run.evaluation = {.every = std::chrono::seconds(0), .share = 1};
  set_default_evaluation(given);
  EXPECT_EQ(given.run.evaluation.every, std::chrono::seconds(0)) << "0 says never";
}

TEST(ResolveStream, HasNoEndOfItsOwnAndABatch) {
  const Config config = resolved(of_model("logistic", "-"));
  EXPECT_EQ(config.run.batch, 32u);
  EXPECT_TRUE(config.run.gradients.empty());
  EXPECT_FALSE(config.run.epochs);
}

TEST(ResolveStream, RefusesWhatNeedsDataThatStays) {
  const Config stream = of_model("logistic", "follow:rows.csv");
  const auto refuses = [&](auto&& change, const std::string& what) {
    Config config = stream;
    change(config);
    EXPECT_THAT(refusal(config),
                AllOf(HasSubstr("`data` " + config.problem.data + ": "), HasSubstr(what)));
  };
  refuses([](Config& c) { c.run.epochs = 1; }, "counts passes over a finite data set");
  refuses([](Config& c) { c.run.sampling = Sampling::shards; }, "shards needs a finite data set");
  refuses([](Config& c) { c.step = StepChoice::proved; }, "give `lr` X");
  refuses([](Config& c) { c.step = StepChoice::automatic; }, "give `lr` X");
  refuses([](Config& c) { c.run.batch = 0; }, "(full batch) needs a finite data set, not a stream");
  refuses([](Config& c) { c.problem.classes = 3; }, "logistic has two");
  refuses([](Config& c) { c.problem.model = "quadratic"; },
          "streams are for logistic, softmax and networks");
  const Ranks ranks(2);
  refuses([](Config& c) { c.problem.data = "-"; }, "standard input reaches one rank only");
  EXPECT_EQ(resolved(stream).run.workers, 2u) << "all ranks follow the file";
}

TEST(ResolveStream, WhatOnlyAStreamHasIsRefusedElsewhere) {
  const auto refuses = [](auto&& change, const std::string& key) {
    Config config = of_model("logistic");
    change(config.problem);
    EXPECT_EQ(refusal(config), "`" + key + "` is for `data` - and `data` follow:FILE");
  };
  refuses([](ProblemChoice& p) { p.format = RowFormat::csv; }, "format");
  refuses([](ProblemChoice& p) { p.features = 3; }, "features");
  refuses([](ProblemChoice& p) { p.classes = 3; }, "classes");
}

TEST(ResolveRanks, AreAsManyAsTheLauncherStarted) {
  const Ranks ranks(3);
  Config config = resolved(of_model("quadratic"));
  EXPECT_EQ(config.ranks.expected, 3u);
  EXPECT_EQ(config.run.workers, 3u) << "one worker on each";
  Config two_each = of_model("quadratic");
  two_each.ranks.workers_per_rank = 2;
  EXPECT_EQ(resolved(two_each).run.workers, 6u);
  Config threads = of_model("quadratic");
  threads.ranks.engine = EngineKind::threads;
  EXPECT_EQ(resolved(threads).ranks.expected, 0u);
}

TEST(ResolveRanks, RefuseWorkersThatDoNotFitUnlessTheyGiveWay) {
  const Ranks ranks(3);
  Config config = of_model("quadratic");
  config.workers = 4;
  EXPECT_EQ(refusal(config),
            "4 workers do not fit on 3 ranks; leave `workers` out, or use a multiple of the ranks");
  config.workers = 6;
  config.ranks.workers_per_rank = 1;
  EXPECT_THAT(refusal(config), HasSubstr("6 workers do not fit on 3 ranks with 1 each"));
  config.ranks.workers_give_way = true;
  EXPECT_EQ(resolved(config).run.workers, 3u);
  config.ranks.workers_per_rank.reset();
  EXPECT_EQ(resolved(config).run.workers, 6u) << "they fit, and stay";
}

TEST(ResolveRanks, AreNeededForWorkersPerRankAndRefuseChaosOnLinks) {
  Config config = of_model("quadratic");
  config.ranks.engine = EngineKind::threads;
  config.ranks.workers_per_rank = 2;
  EXPECT_THAT(refusal(config), HasSubstr("`ranks.workers_per_rank` needs ranks"));
  const Ranks ranks(2);
  Config chaos = of_model("quadratic");
  chaos.run.chaos.drop = 0.1;
  EXPECT_THAT(refusal(chaos), HasSubstr("chaos on links needs threads or the simulator"));
}

TEST(Engine, NamesReadBack) {
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::threads, EngineKind::mpi})
    EXPECT_EQ(parse_engine(to_string(kind)), kind);
  EXPECT_EQ(message_of<InputError>([] { parse_engine("treads"); }),
            "unknown engine \"treads\"; did you mean \"threads\"?");
}

}  // namespace
}  // namespace dasgd::config
