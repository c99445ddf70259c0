// Rivals on real threads.
#include <stop_token>
#include <thread>

#include "dasgd/lab/rivals/methods/hogwild.hpp"
#include "dasgd/lab/rivals/methods/server.hpp"
#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

/// Gradients take no longer than they take.
Scene at_once(std::size_t workers, const std::string& topology = "full") {
  Scene scene(workers, topology);
  scene.world.compute = TimeModel::constant(0);
  return scene;
}

TEST(RealArena, EveryRivalAloneIsSgdBitForBit) {
  for (const RivalKind& kind : all_rivals()) {
    if (kind.name == "dasgd" || kind.name == "diloco" || kind.name == "eager" ||
        kind.name == "sparseloco" || kind.name == "easgd")
      continue;
    const std::string rival = kind.name == "fedbuff"   ? "fedbuff:K=1:momentum=0"
                              : kind.name == "fragile" ? "fragile:B=1"
                                                       : kind.name;
    Scene scene = at_once(1);
    EXPECT_EQ(scene.gradients(40).perform(rival).gradients, 40u) << rival;
    ASSERT_EQ(scene.models().size(), 1u) << rival;
    EXPECT_EQ(scene.models()[0], sgd(scene, 0, 40, 0.05)) << rival;
  }
}

// A method that waits for all workers does the same sums in the same order, however threads are
// scheduled.
TEST(RealArena, SynchronousRivalsEndAtTheModelsOfVirtualTimeBitForBit) {
  for (const char* rival : {"minibatch", "local-sgd:H=4", "diloco:H=4", "sparseloco:H=4"}) {
    Scene real = at_once(6, "ring"), predicted = at_once(6, "ring");
    real.gradients(6 * 20).perform(rival);
    predicted.gradients(6 * 20).play(rival);
    EXPECT_EQ(real.models(), predicted.models()) << rival;
  }
}

TEST(RealArena, EveryRivalSpendsItsBudgetAndEnds) {
  for (const RivalKind& kind : all_rivals()) {
    if (kind.name == "dasgd") continue;
    Scene scene = at_once(4, "ring");
    const PlayResult result = scene.gradients(200).perform(kind.name);
    EXPECT_EQ(result.reason, StopReason::budget) << kind.name;
    EXPECT_EQ(result.gradients, 200u) << kind.name;
    EXPECT_EQ(result.samples, 400u) << kind.name;
  }
}

// Each takes 1 away from all numbers so often; what is missing at the end was overwritten. Of
// several that are overwritten at once one is counted.
TEST(Hogwild, CountsWhatIsOverwritten) {
  constexpr std::size_t numbers = 64;
  constexpr int times = 20'000;
  const std::vector<double> ones(numbers, 1);
  const auto missing_and_counted = [&](int threads) {
    rivals::SharedModel<double> model(std::vector<double>(numbers, 0));
    std::atomic<std::uint64_t> counted{0};
    {
      std::vector<std::jthread> all;
      for (int k = 0; k < threads; ++k)
        all.emplace_back([&] {
          for (int step = 0; step < times; ++step) counted += model.subtract(1, ones);
        });
    }
    std::vector<double> end;
    model.read(end);
    double missing = 0;
    for (const double number : end) missing += threads * times + number;
    return std::pair(missing, static_cast<double>(counted));
  };
  EXPECT_EQ(missing_and_counted(1), std::pair(0.0, 0.0));
  const auto [missing, counted] = missing_and_counted(4);
  EXPECT_GE(missing, counted);
  EXPECT_EQ(missing > 0, counted > 0);
}

TEST(RealArena, GradientsLastAsLongAsTheClocksSay) {
  Scene scene(2);
  scene.world.compute = TimeModel::constant(5 * ms);
  scene.options.slow = {{worker_id(1), 4}};
  const PlayResult result = scene.gradients(2 * 10).perform("minibatch");
  EXPECT_GE(result.seconds, 10 * 0.020);
}

TEST(RealArena, SumOfDelaysOfAServerIsUpdatesTimesOthers) {
  Scene scene = at_once(5);
  scene.gradients(300).perform("asgd");
  const auto& server = scene.participant<rivals::ParameterServer<double>>(5);
  std::uint64_t delays = server.delays();
  for (std::size_t i = 0; i < 5; ++i) delays += server.delay_of(i);
  EXPECT_EQ(server.updates(), 300u);
  EXPECT_LE(delays, 300u * 4);
}

TEST(RealArena, AnObserverSeesModelsAndEndsTheRun) {
  Scene scene(3);
  scene.world.compute = TimeModel::constant(ms);
  std::size_t looks = 0;
  std::uint64_t gradients = 0;
  const Observer<double> observer{5 * ms, [&](const Instant<double>& instant) {
                                    EXPECT_EQ(instant.models.size(), 1u);
                                    EXPECT_EQ(instant.nodes.size(), 4u);
                                    EXPECT_GE(instant.gradients, gradients);
                                    gradients = instant.gradients;
                                    return ++looks == 4;
                                  }};
  EXPECT_EQ(scene.perform("asgd", &observer).reason, StopReason::target);
  EXPECT_EQ(looks, 4u);
}

TEST(RealArena, EndsWhenAStopIsAskedForOrTheTimeIsOver) {
  Scene scene(3);
  std::stop_source stop;
  scene.options.stop = stop.get_token();
  std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request_stop();
  });
  EXPECT_EQ(scene.perform("swift").reason, StopReason::interrupted);
  Scene short_one(3);
  EXPECT_EQ(short_one.until(40 * ms).perform("rennala").reason, StopReason::max_time);
}

TEST(RealArena, WhatAGradientThrowsComesOut) {
  Scene scene = at_once(3);
  scene.problem.on_gradient = [](auto) { throw std::runtime_error("no gradient today"); };
  EXPECT_THROW(scene.gradients(30).perform("minibatch"), std::runtime_error);
}

TEST(RealArena, SaysThatLinksCannotBeSlowedDown) {
  Scene scene(3);
  scene.world.nic = 1e6;
  EXPECT_THROW(scene.perform("asgd"), InputError);
}

}  // namespace
}  // namespace dasgd::test
