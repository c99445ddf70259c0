// SparseLoCo: what is sent, what is left, and the limit in which it is DiLoCo.
#include "dasgd/lab/rivals/methods/sparse_loco.hpp"

#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

using rivals::SparseFeedback;

std::vector<float> numbers(std::size_t count, std::uint32_t stream) {
  Random random(11, Purpose::test, stream);
  std::vector<float> result(count);
  for (float& x : result) x = static_cast<float>(random.normal());
  return result;
}

TEST(SparseLoCo, OfAllNumbersInAllBitsIsDilocoWithoutOuterMomentum) {
  for (const std::string own : {"", ":adam=0", ":rule=nesterov"}) {
    Scene sparse(4), dense(4);
    sparse.gradients(4 * 60).play("sparseloco:H=5:share=1:bits=0:outer_lr=0.7" + own);
    dense.gradients(4 * 60).play("diloco:H=5:momentum=0:outer_lr=0.7" + own);
    for (std::size_t i = 0; i < 4; ++i) expect_near(sparse.models()[i], dense.models()[i], 1e-12);
  }
}

TEST(SparseLoCo, WorkersHaveTheSameModelAfterARound) {
  Scene scene(5, "full", 0.05, 50);
  scene.options.slow = {{worker_id(3), 2.5}};
  scene.gradients(5 * 40).play("sparseloco:H=4:share=0.1");
  for (const auto& model : scene.models()) EXPECT_EQ(model, scene.models()[0]);
}

TEST(SparseLoCo, ResidualAndWhatIsSentAreAllThereWas) {
  constexpr std::size_t d = 10'000;
  for (const int bits : {0, 1, 2, 8}) {
    SparseFeedback<float> feedback(0.01, bits, 0.95, d);
    std::vector<float> before(d, 0);
    for (std::uint32_t round = 0; round < 5; ++round) {
      const auto D = numbers(d, round);
      const auto sent = feedback.compress(D);
      for (std::size_t i = 0; i < d; ++i)
        ASSERT_EQ(feedback.residual()[i], static_cast<float>(0.95 * before[i] + D[i]) - sent[i]);
      before.assign(feedback.residual().begin(), feedback.residual().end());
    }
  }
}

TEST(SparseLoCo, SendsTheLargestOfEveryChunkInFewValues) {
  const auto D = numbers(4096 + 1000, 1);
  SparseFeedback<float> feedback(64.0 / 4096, 2, 0.95, D.size());
  const auto sent = feedback.compress(D);
  std::vector<float> values;
  const auto check = [&](std::size_t first, std::size_t count, std::size_t kept) {
    float least_sent = 1e9F, most_left = 0;
    std::size_t found = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      found += sent[i] != 0;
      if (sent[i] != 0) values.push_back(sent[i]);
      (sent[i] != 0 ? least_sent : most_left) =
          sent[i] != 0 ? std::min(least_sent, std::abs(D[i])) : std::max(most_left, std::abs(D[i]));
    }
    EXPECT_EQ(found, kept);
    EXPECT_GE(least_sent, most_left);
  };
  check(0, 4096, 64);
  check(4096, 1000, 16);
  std::sort(values.begin(), values.end());
  EXPECT_LE(std::unique(values.begin(), values.end()) - values.begin(), 4);
}

// 64 of 4,096 numbers, each in 2 bits and 12 for where it is: the published 146 times less.
TEST(SparseLoCo, SendsTheBytesThatTheWireWouldCarry) {
  SparseFeedback<float> feedback(64.0 / 4096, 2, 0.95, 8192);
  feedback.compress(numbers(8192, 1));
  EXPECT_DOUBLE_EQ(feedback.wire_share(), 64.0 * 14 / (4096 * 32));
  EXPECT_NEAR(1 / feedback.wire_share(), 146, 0.5);
  SparseFeedback<float> full(1, 0, 0, 8192);
  full.compress(numbers(8192, 1));
  EXPECT_EQ(full.wire_share(), 1);

  Scene scene(4, "full", 0.05, 64);
  std::vector<NodeUse> nodes;
  const Observer<double> observer{ms, [&](const Instant<double>& instant) {
                                    nodes.assign(instant.nodes.begin(), instant.nodes.end());
                                    return false;
                                  }};
  scene.make("sparseloco:H=5:share=0.125");
  scene.gradients(4 * 10);
  play(scene.problem, scene.participants, scene.options, scene.world, {}, &observer);
  for (const NodeUse& node : nodes) {  // two rounds, to three others, 8 numbers of 14 bits
    EXPECT_EQ(node.messages, 2u * 3);
    EXPECT_EQ(node.sent, 2u * 3 * 14);
    EXPECT_EQ(node.received, node.sent);
  }
}

TEST(SparseLoCo, NumbersThatAreAllEqualAreSentAsTheyAre) {
  SparseFeedback<float> feedback(0.5, 2, 1, 8);
  const std::vector<float> D(8, 3.0F);
  EXPECT_EQ(feedback.compress(D), (std::vector<float>{3, 3, 3, 3, 0, 0, 0, 0}));
  EXPECT_EQ(feedback.compress(std::vector<float>(8, 0)),
            (std::vector<float>{0, 0, 0, 0, 3, 3, 3, 3}));
}

TEST(SparseLoCo, ItsNumbersAreChecked) {
  for (const char* bad : {"sparseloco:share=0", "sparseloco:share=2", "sparseloco:bits=9",
                          "sparseloco:bits=x", "sparseloco:H=0", "sparseloco:decay=-1",
                          "sparseloco:rule=adma", "sparseloco:shar=1", "sparseloco:share"})
    EXPECT_THROW(choose_rival(bad, all_rivals()), InputError) << bad;
}

}  // namespace
}  // namespace dasgd::test
