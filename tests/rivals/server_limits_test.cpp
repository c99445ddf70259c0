// The limits in which synchronous SGD and the server family are something known.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "dasgd/lab/rivals/methods/minibatch.hpp"
#include "dasgd/lab/rivals/methods/server.hpp"
#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

TEST(Limits, EveryRivalAloneIsSgdBitForBit) {
  for (const std::string rival : {"minibatch",
                                  "minibatch:backup=3",
                                  "asgd",
                                  "delay-adaptive",
                                  "drop-late",
                                  "ringmaster",
                                  "ringmaster:stop=1",
                                  "rennala",
                                  "fedbuff:K=1:momentum=0",
                                  "ssp",
                                  "ssp:s=0",
                                  "d-psgd",
                                  "d-psgd:atc=1",
                                  "ad-psgd",
                                  "swift",
                                  "sgp",
                                  "sgp:overlap=1",
                                  "fragile:B=1",
                                  "local-sgd",
                                  "local-sgd:H=1",
                                  "hogwild"}) {
    Scene scene(1);
    scene.gradients(40).play(rival);
    ASSERT_EQ(scene.models().size(), 1u) << rival;
    EXPECT_EQ(scene.models()[0], sgd(scene, 0, 40, 0.05)) << rival;
  }
}

TEST(Limits, HogwildInVirtualTimeIsServerAsgdWithoutLatency) {
  Scene shared(5), served(5);
  shared.options.slow = served.options.slow = {{worker_id(2), 3.5}};
  shared.gradients(60).play("hogwild");
  served.gradients(60).play("asgd");
  EXPECT_EQ(shared.models(), served.models());
}

TEST(Limits, MinibatchIsOneGradientOfAllBatchesJoined) {
  Scene scene(5);
  scene.gradients(5 * 12).play("minibatch");
  std::vector<Batches> batches;
  for (std::size_t i = 0; i < 5; ++i)
    batches.emplace_back(Batches::Options{scene.options.seed, Sampling::own, 5, 64, 2},
                         worker_id(i));
  std::vector<double> x(4), g(4);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::uint32_t> joined;
    for (Batches& source : batches) {
      const Rows rows = source.next().rows;
      joined.insert(joined.end(), rows.begin(), rows.end());
    }
    scene.problem.gradient(x, joined, g);
    subtract<double>(x, 0.05 * 5, g);
  }
  for (const auto& model : scene.models()) expect_near(model, x);
}

TEST(Limits, RoundTimeOfMinibatchIsTheMthOrderStatistic) {
  for (const std::size_t backup : {0u, 1u, 3u}) {
    Scene scene(6);
    scene.world.compute = TimeModel::lognormal(10 * ms, 0.6);
    scene.how.preempt = true;
    const std::size_t rounds = 20;
    const PlayResult result =
        scene.gradients(6 * rounds).play("minibatch:backup=" + std::to_string(backup));
    Nanoseconds expected = 0;
    for (std::uint64_t k = 0; k < rounds; ++k) {
      std::vector<Nanoseconds> times;
      for (std::size_t i = 0; i < 6; ++i)
        times.push_back(scene.world.compute.draw(1, Purpose::compute_time, i, k));
      std::sort(times.begin(), times.end());
      expected += times[5 - backup];
    }
    EXPECT_NEAR(result.seconds, static_cast<double>(expected) * 1e-9, 1e-9) << backup;
  }
}

TEST(Limits, RingAllReduceTakesTwiceNMinusOneStepsOfAnNthOfTheVector) {
  const std::size_t n = 5, d = 5 * 1000;
  for (const bool card : {false, true}) {
    Scene scene(n, "full", 0.05, d);
    scene.world.latency = TimeModel::constant(3 * ms);
    (card ? scene.world.nic : scene.world.bandwidth) = 1e6;
    const PlayResult result = scene.gradients(n).play("minibatch");
    const double chunk = static_cast<double>(d / n * sizeof(double) + 64);  // with its header
    EXPECT_NEAR(result.seconds, 0.010 + 2 * (n - 1) * (0.003 + chunk / 1e6), 1e-7);
  }
}

TEST(Limits, MinibatchThroughAServerThatDropsNobodyIsTheAllReducesSum) {
  Scene ring(5), served(5);
  ring.gradients(100).play("minibatch");
  const Graph graph = graph_of(served.options);
  const auto setup = setup_of(served.problem, graph, served.options.eta, {});
  for (std::size_t i = 0; i < 5; ++i)
    served.participants.push_back(
        std::make_unique<rivals::BackedUpWorker<double>>(5, setup.start_of(i)));
  served.participants.push_back(std::make_unique<rivals::FirstOfManyServer<double>>(setup, 5));
  play(served.gradients(100).problem, served.participants, served.options, served.world);
  expect_near(served.models()[0], ring.models()[0]);
}

TEST(Limits, MinibatchOfTheFirstIsRennalaOfOne) {
  Scene first(4), rennala(4);
  for (Scene* scene : {&first, &rennala}) {
    scene->world.compute = TimeModel::per_item({11 * ms, 13 * ms, 17 * ms, 19 * ms});
    scene->until(500 * ms);
  }
  first.play("minibatch:backup=3");
  rennala.play("rennala:B=1");
  EXPECT_EQ(first.models(), rennala.models());
}

TEST(Limits, DelaysOfAServerSumUpToUpdatesTimesTheOthers) {
  for (const std::string rival :
       {"asgd", "delay-adaptive", "drop-late:tau=3", "ringmaster:R=3", "ringmaster:R=3:stop=1",
        "rennala:B=5", "rennala:B=5:stop=0", "fedbuff:K=4"}) {
    Scene scene(7);
    scene.world.compute = TimeModel::lognormal(10 * ms, 1);
    scene.options.slow = {{WorkerId{2}, 20}};
    scene.how.preempt = true;
    scene.until(3000 * ms).play(rival);
    const auto& server = scene.participant<rivals::ParameterServer<double>>(7);
    std::uint64_t delays = server.delays();
    for (std::size_t i = 0; i < 7; ++i) delays += server.delay_of(i);
    ASSERT_GT(server.updates(), 50u);
    EXPECT_EQ(delays, server.updates() * 6) << rival;
  }
}

TEST(Limits, DelayAdaptiveIsPlainWhileNobodyIsLaterThanN) {
  Scene plain(6), adaptive(6), dropping(6), patient(6), stale(6);
  plain.gradients(300).play("asgd");
  adaptive.gradients(300).play("delay-adaptive");
  dropping.gradients(300).play("drop-late");
  patient.gradients(300).play("ringmaster:R=1e9");
  stale.gradients(300).play("ssp:s=1e9");
  for (const Scene* other : {&adaptive, &dropping, &patient, &stale})
    EXPECT_EQ(plain.models(), other->models());
}

TEST(Limits, RingmasterOfOneWithStopsIsTheFastestWorkersSgd) {
  Scene scene(5);
  scene.world.compute = TimeModel::per_item({23 * ms, 19 * ms, 7 * ms, 29 * ms, 31 * ms});
  scene.how.preempt = true;
  scene.until(701 * ms).play("ringmaster:R=1:stop=1");
  EXPECT_EQ(scene.models()[0], sgd(scene, 2, 100, 0.05));
}

TEST(Limits, RennalaOfNWithEqualSpeedsIsMinibatch) {
  Scene rennala(6), minibatch(6);
  for (Scene* scene : {&rennala, &minibatch}) {
    scene->options.batch = 0;  // a worker that begins too early and is stopped has drawn a batch
    scene->how.preempt = true;
    scene->until(205 * ms);
  }
  rennala.play("rennala");
  minibatch.play("minibatch");
  expect_near(rennala.models()[0], minibatch.models()[0]);
}

TEST(Limits, StaleSynchronousOfZeroIsMinibatchWithTheSum) {
  Scene stale(4), minibatch(4);
  for (Scene* scene : {&stale, &minibatch})
    scene->world.compute = TimeModel::per_item({10 * ms, 12 * ms, 15 * ms, 40 * ms});
  stale.gradients(80).play("ssp:s=0");
  minibatch.gradients(80).play("minibatch");
  expect_near(stale.models()[0], minibatch.models()[0]);
}

TEST(Limits, StaleSynchronousKeepsEverybodyWithinS) {
  Scene scene(3);
  scene.world.compute = TimeModel::per_item({10 * ms, 10 * ms, 1000 * ms});
  // The slow one is in its first gradient: the others may be 5 ahead, and compute one more.
  const PlayResult result = scene.until(999 * ms).play("ssp:s=5");
  EXPECT_EQ(result.gradients, 2u * 6);
}

TEST(Limits, FedbuffOfOneOnTimeIsPlain) {
  Scene buffered(1), plain(1);
  buffered.gradients(50).play("fedbuff:K=1:H=1:momentum=0");
  plain.gradients(50).play("asgd");
  EXPECT_EQ(buffered.models(), plain.models());
}

/// f = x^2 / 2 from x = 1.
class Square final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  std::vector<double> start() const override { return {1}; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    g[0] = x[0];
    return x[0] * x[0] / 2;
  }
};

TEST(Limits, LargestStableStepOfAsgdWith40EqualClocks) {
  const Square square;
  const auto is_stable = [&](double eta) {
    TrainOptions options{.workers = 40, .eta = eta, .total_gradients = 80'000};
    VirtualWorld world;
    world.compute = TimeModel::constant(ms);
    world.latency = TimeModel::constant(0);
    world.apply = 0;
    double last = 0;
    const Observer<double> observer{1'000 * ms, [&](const Instant<double>& instant) {
                                      last = std::abs(instant.models[0][0]);
                                      return false;
                                    }};
    play(square, choose_rival("asgd", all_rivals()), options, world, {}, &observer);
    return last < 1;
  };
  double low = 0.01, high = 0.1;
  while (high - low > 1e-5) (is_stable((low + high) / 2) ? low : high) = (low + high) / 2;
  EXPECT_NEAR(low, 2 * std::sin(std::numbers::pi / (2 * (2 * 40 - 1))), 1e-4);
  EXPECT_NEAR(low, 0.0398, 1e-4);
}

// With the gradient of a worker; a model here is four numbers.
TEST(Memory, IsWhatANodeKeepsInModels) {
  const auto most_kept = [](const std::string& rival) {
    Scene scene(4, "ring");
    std::uint64_t most = 0;
    const Observer<double> observer{5 * ms, [&](const Instant<double>& instant) {
                                      for (const NodeUse& node : instant.nodes)
                                        most = std::max(most, node.kept);
                                      return false;
                                    }};
    scene.make(rival);
    scene.gradients(80);
    play(scene.problem, scene.participants, scene.options, scene.world, {}, &observer);
    return most / (4 * sizeof(double));
  };
  EXPECT_EQ(most_kept("minibatch"), 3u);      // x, the sum
  EXPECT_EQ(most_kept("asgd"), 2u);           // the model it was sent; the server: x, a copy
  EXPECT_EQ(most_kept("rennala:B=4"), 3u);    // the server: x, the sum, a copy
  EXPECT_EQ(most_kept("swift"), 4u);          // x, those of two neighbours
  EXPECT_EQ(most_kept("local-sgd:H=2"), 4u);  // x, y, the sum
  EXPECT_EQ(most_kept("diloco:H=2"), 7u);     // and the outer momentum, two of AdamW
  // x, y, the residual, two of AdamW, and one number of each worker with its place
  EXPECT_EQ(most_kept("sparseloco:H=2:share=0.25:bits=0"), 6u + 4 * (64 + 12) / (4 * 64));
}

TEST(Limits, ACancelledGradientIsFinishedInVainUnlessItCanBeStopped) {
  for (const bool preempt : {false, true}) {
    Scene scene(2);
    scene.world.compute = TimeModel::per_item({10 * ms, 95 * ms});
    scene.how.preempt = preempt;
    const PlayResult result = scene.until(1000 * ms).play("minibatch:backup=1");
    EXPECT_EQ(result.gradients - result.wasted, 100u) << preempt;
    EXPECT_EQ(result.wasted, preempt ? 100u : 10u) << preempt;
  }
}

}  // namespace
}  // namespace dasgd::test
