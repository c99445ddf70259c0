// The limits in which rivals without a server, and those with local steps, are something known.
#include <cmath>
#include <numbers>
#include <numeric>

#include "dasgd/base/input_error.hpp"
#include "dasgd/lab/rivals/methods/ad_psgd.hpp"
#include "dasgd/lab/rivals/methods/easgd.hpp"
#include "dasgd/lab/rivals/methods/sgp.hpp"
#include "dasgd/lab/rivals/mixing.hpp"
#include "dasgd/topology/builders.hpp"
#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

std::vector<std::vector<double>> waves(std::size_t n) {
  std::vector<std::vector<double>> starts;
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    starts.push_back({std::cos(angle), std::sin(angle), 1, static_cast<double>(i)});
  }
  return starts;
}

double spread(const std::vector<std::vector<double>>& models, std::size_t coordinate) {
  const auto mean = mean_of(models);
  double sum = 0;
  for (const auto& x : models)
    sum += (x[coordinate] - mean[coordinate]) * (x[coordinate] - mean[coordinate]);
  return std::sqrt(sum);
}

TEST(Limits, GossipWithoutStepsKeepsTheMeanAndContractsByLambda2) {
  const std::size_t n = 9, rounds = 30;
  for (const std::string rival : {"d-psgd", "d-psgd:atc=1"}) {
    Scene scene(n, "ring", 0);
    scene.gradients(n * rounds).play(rival, waves(n));
    const double lambda = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / n);
    expect_near(mean_of(scene.models()), mean_of(waves(n)), 1e-12);
    EXPECT_NEAR(spread(scene.models(), 0), spread(waves(n), 0) * std::pow(std::abs(lambda), rounds),
                1e-12);
  }
}

TEST(Limits, AdaptThenCombineOnTheFullGraphIsMinibatch) {
  Scene gossip(6), minibatch(6);
  gossip.gradients(120).play("d-psgd:atc=1");
  minibatch.gradients(120).play("minibatch");
  for (const auto& model : gossip.models()) expect_near(model, minibatch.models()[0]);
}

TEST(Limits, AsPublishedOnTheFullGraphModelsDifferByTheirLastGradients) {
  const std::size_t n = 5;
  Scene scene(n);
  const double lr = scene.options.eta * n;
  scene.gradients(n * 7).play("d-psgd");
  // The same rounds by hand: x_i' = mean x - lr g_i(x_i).
  std::vector<Batches> batches;
  for (std::size_t i = 0; i < n; ++i)
    batches.emplace_back(Batches::Options{1, Sampling::own, n, 64, 2}, worker_id(i));
  std::vector<std::vector<double>> x(n, std::vector<double>(4)), g = x;
  for (int round = 0; round < 7; ++round) {
    for (std::size_t i = 0; i < n; ++i) scene.problem.gradient(x[i], batches[i].next().rows, g[i]);
    const auto mean = mean_of(x);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = mean;
      subtract<double>(x[i], lr, g[i]);
    }
  }
  const auto models = scene.models();
  const auto mean = mean_of(models), mean_g = mean_of(g);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(models[i][k] - mean[k], -lr * (g[i][k] - mean_g[k]), 1e-12);
}

TEST(Limits, SwiftInLockstepIsGossipAsPublishedBitForBit) {
  for (const std::string topology : {"ring", "torus:3x4", "star", "full"}) {
    Scene swift(12, topology, 0.01), gossip(12, topology, 0.01);
    for (Scene* scene : {&swift, &gossip}) {
      scene->world.latency = TimeModel::constant(3 * ms);
      scene->gradients(12 * 25);
    }
    swift.play("swift");
    gossip.play("d-psgd:ccs=1");
    EXPECT_EQ(swift.models(), gossip.models()) << topology;
  }
}

TEST(Limits, WeightsAreSymmetricAndRowsSumUpToOne) {
  for (const std::string topology : {"ring", "torus:3x4", "star", "full", "random-regular:3"}) {
    const Graph graph = build_graph(topology, 12, 3);
    for (const auto& matrix :
         {rivals::metropolis(graph), rivals::communication_coefficients(graph)}) {
      std::vector<std::vector<double>> w(12, std::vector<double>(12));
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t k = 0; k < matrix[i].who.size(); ++k) {
          w[i][matrix[i].who[k]] = matrix[i].weight[k];
          EXPECT_GT(matrix[i].weight[k], 0) << topology;
        }
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_NEAR(std::accumulate(w[i].begin(), w[i].end(), 0.0), 1, 1e-12);
        for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(w[i][j], w[j][i]);
      }
    }
  }
}

TEST(Limits, SwiftStaysWhereAllAgree) {
  Scene scene(8, "ring", 0);
  scene.world.compute = TimeModel::lognormal(10 * ms, 0.5);
  scene.until(1000 * ms).play("swift", {{1, 2, 3, 4}});
  for (const auto& model : scene.models()) expect_near(model, {1, 2, 3, 4});
}

TEST(Limits, AveragingInPairsKeepsTheSumAndContracts) {
  Scene scene(7, "ring", 0);
  scene.world.compute = TimeModel::lognormal(10 * ms, 0.5);
  scene.gradients(4000).play("ad-psgd", waves(7));  // ends when every exchange has
  expect_near(mean_of(scene.models()), mean_of(waves(7)), 1e-9);
  for (const std::size_t coordinate : {0u, 1u, 3u})
    EXPECT_LT(spread(scene.models(), coordinate), 1e-9);
}

TEST(Limits, PairsOnAnOddRingSayWhichLinksTheyDoNotUse) {
  EXPECT_EQ(rivals::describe_sides(build_graph("ring", 8, 1)), "");
  EXPECT_NE(rivals::describe_sides(build_graph("ring", 7, 1)).find("1 of the 7 links"),
            std::string::npos);
  Scene directed(5, "directed-ring");
  EXPECT_THROW(directed.gradients(10).play("ad-psgd"), InputError);
}

TEST(Limits, LocalSgdOfOneStepIsMinibatch) {
  Scene local(6), minibatch(6), post(6);
  local.gradients(120).play("local-sgd:H=1");
  post.gradients(120).play("local-sgd:H=20:T0=1000");
  minibatch.gradients(120).play("minibatch");
  for (const auto& model : local.models()) expect_near(model, minibatch.models()[0]);
  for (const auto& model : post.models()) expect_near(model, minibatch.models()[0]);
}

TEST(Limits, DilocoWithoutItsOptimisersIsLocalSgdBitForBit) {
  Scene diloco(4), local(4);
  diloco.gradients(160).play("diloco:H=8:adam=0:outer_lr=1:momentum=0");
  local.gradients(160).play("local-sgd:H=8");
  EXPECT_EQ(diloco.models(), local.models());
}

// Sums at one stroke are those of letters round a ring, at the same time and with the same bytes.
TEST(Limits, WorkersThatMeetEndWhenARingDoes) {
  for (const std::string rival : {"minibatch", "local-sgd:H=3", "diloco:H=3",
                                  "sparseloco:H=3:share=0.25", "sparseloco:H=3:share=1:bits=0"}) {
    Scene ring(8, "full", 0.05, 16), meets(8, "full", 0.05, 16);
    std::vector<NodeUse> uses[2];
    PlayResult results[2];
    for (Scene* scene : {&ring, &meets}) {
      const bool meet = scene == &meets;
      scene->world.latency = TimeModel::constant(2 * ms);
      scene->world.apply = ms;
      scene->world.nic = 1e5;
      scene->world.stands_for = 100;
      scene->how.meet = meet;
      scene->make(rival);
      scene->gradients(8 * 30);
      const Observer<double> observer{ms, [&](const Instant<double>& instant) {
                                        uses[meet].assign(instant.nodes.begin(),
                                                          instant.nodes.end());
                                        return false;
                                      }};
      results[meet] = play(scene->problem, scene->participants, scene->options, scene->world,
                           scene->how, &observer);
    }
    EXPECT_NEAR(results[0].seconds, results[1].seconds, 1e-6) << rival;
    for (std::size_t i = 0; i < 8; ++i) {
      expect_near(ring.models()[i], meets.models()[i], 1e-12);
      EXPECT_EQ(uses[0][i].sent, uses[1][i].sent) << rival;
      EXPECT_EQ(uses[0][i].received, uses[1][i].received) << rival;
      EXPECT_EQ(uses[0][i].messages, uses[1][i].messages) << rival;
      EXPECT_NEAR(uses[0][i].busy, uses[1][i].busy, 100) << rival;
    }
  }
}

TEST(Limits, ACommonModelIsThatOfTheLastMean) {
  for (const std::string rival : {"local-sgd:H=3", "diloco:H=3", "sparseloco:H=3"}) {
    Scene scene(4);
    scene.gradients(4 * 5).play(rival);  // two own steps behind the first mean
    for (std::size_t i = 0; i < 4; ++i) {
      const auto common = scene.participants[i]->common(), first = scene.participants[0]->common();
      EXPECT_TRUE(std::equal(common.begin(), common.end(), first.begin())) << rival;
      const auto model = scene.participants[i]->model();
      EXPECT_FALSE(std::equal(common.begin(), common.end(), model.begin())) << rival;
    }
  }
}

TEST(Limits, PushedWeightsSumUpToN) {
  for (const std::string rival : {"sgp", "sgp:overlap=1"}) {
    Scene scene(6, "full", 0.01);
    scene.world.compute = TimeModel::lognormal(10 * ms, 0.5);
    scene.world.latency = TimeModel::constant(25 * ms);
    scene.gradients(300).play(rival);  // whoever has no budget left adds what has arrived no more
    double held = 0;
    for (std::size_t i = 0; i < 6; ++i)
      held += scene.participant<rivals::PushWorker<double>>(i).mass();
    EXPECT_NEAR(held, 6, 1e-12) << rival;
  }
}

// Everybody has one in-peer and one out-peer in each round.
TEST(Limits, PushedWeightsAreOneWhereRoundsAreComplete) {
  Scene scene(6, "full", 0.01);
  scene.gradients(6 * 20).play("sgp");
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(scene.participant<rivals::PushWorker<double>>(i).mass(), 1) << i;
}

TEST(Limits, PushingWithoutStepsOn2PowQWorkersIsTheExactMeanAfterQRounds) {
  Scene scene(8, "full", 0);
  scene.gradients(8 * 3).play("sgp", waves(8));
  for (const auto& model : scene.models()) expect_near(model, mean_of(waves(8)), 1e-15);
}

TEST(Limits, ElasticAveragingWithoutASpringIsIndependentSgd) {
  Scene scene(3);
  scene.gradients(3 * 40).play("easgd:beta=0");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(scene.participant<rivals::ElasticWorker<double>>(i).own(),
              sgd(scene, i, 40, 0.05 * 3));
  EXPECT_EQ(scene.models()[0], scene.problem.start());
}

TEST(Limits, ElasticExchangesKeepTheSumOfAllAndTheCentre) {
  Scene scene(5, "full", 0);
  scene.world.compute = TimeModel::lognormal(10 * ms, 0.5);
  scene.gradients(5 * 40).play("easgd:tau=1", waves(5));
  std::vector<double> sum = scene.models()[0], before = waves(5)[0];
  for (std::size_t i = 0; i < 5; ++i) {
    add<double>(sum, 1, scene.participant<rivals::ElasticWorker<double>>(i).own());
    add<double>(before, 1, waves(5)[i]);
  }
  expect_near(sum, before, 1e-10);
}

TEST(Limits, FragileOnAStarWithoutLatencyIsRennala) {
  Scene fragile(5, "star"), rennala(5);
  for (Scene* scene : {&fragile, &rennala}) {
    scene->world.compute = TimeModel::per_item({10 * ms, 13 * ms, 17 * ms, 19 * ms, 53 * ms});
    scene->options.batch =
        0;  // who never waits begins too early, is stopped, and has drawn a batch
    scene->how.preempt = true;
    scene->until(2000 * ms);
  }
  fragile.play("fragile:B=4");
  rennala.play("rennala:B=4");
  expect_near(fragile.models()[0], rennala.models()[0]);
}

}  // namespace
}  // namespace dasgd::test
