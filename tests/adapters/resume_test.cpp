#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/normalised_network.hpp"
#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/runtime/train.hpp"
#include "support/message.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;

class ResumedNetwork : public ::testing::Test {
 protected:
  std::vector<float> floats(const Bytes& bytes) {
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  test::TemporaryDirectory directory;
  const std::string path = test::write_normalised_network(directory);
  const std::shared_ptr<const Samples> samples =
      image_samples(test::tiny_image_set(8), {.augmentation = {.flip = true, .crop = 2}});
  const std::unique_ptr<Network> network = make_network({.model = path}, samples);
};

TEST_F(ResumedNetwork, GoesOnToTheBitWithItsStatisticsAndAugmentation) {
  TrainOptions options{.workers = 1, .eta = 0.05, .batch = 8, .gradients = {400}, .compute = 1ms};
  options.checkpoint.every = 20ms;
  std::vector<Checkpoint> checkpoints;
  options.checkpoint.save = [&](const Checkpoint& c) { checkpoints.push_back(c); };
  const auto whole = run_training<float>(*network, options, {});
  const Bytes last = checkpoints.back().workers[0].carry_over.objective;
  EXPECT_EQ(floats(last).size(), 7u);
  EXPECT_EQ(floats(last).back(), 400) << "batches";
  const Checkpoint middle = checkpoints.front();
  ASSERT_LT(middle.gradients, 400u);
  options.resume = &middle;
  const auto again = make_network({.model = path}, samples);
  const auto resumed = run_training<float>(*again, options, {});
  EXPECT_EQ(resumed.summary.replica_digest, whole.summary.replica_digest);
  EXPECT_EQ(checkpoints.back().workers[0].carry_over.objective, last);
  EXPECT_EQ(resumed.summary.loss, whole.summary.loss) << "which uses the statistics";
}

TEST_F(ResumedNetwork, TakesTheMeanOfTheStatisticsOfOtherWorkers) {
  HostReplica<float> replica(network->start());
  ComputePoint<float> start(replica);
  const auto first = network->make_oracle(WorkerId{0}), second = network->make_oracle(WorkerId{1});
  std::vector<float> g(network->dimension());
  const std::vector<std::uint32_t> some{0, 1, 2, 3}, others{14, 15, 16};
  first->gradient(start, {some}, g);
  second->gradient(start, {others}, g);
  const std::vector<Bytes> states{first->state(), Bytes{}, second->state()};
  const auto third = network->make_oracle(WorkerId{2});
  third->restore(states);
  const auto a = floats(states[0]), b = floats(states[2]), mean = floats(third->state());
  ASSERT_EQ(mean.size(), 7u);
  EXPECT_NE(a, b);
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_FLOAT_EQ(mean[i], (a[i] + b[i]) / 2);
  EXPECT_EQ(test::message_of<InputError>([&] { third->restore(std::vector<Bytes>{Bytes(8)}); }),
            "the checkpoint holds the statistics of another network");
}

// The count of a network that was trained before stays.
TEST_F(ResumedNetwork, TakesStatisticsWithoutACountAsTheFirstReleaseWroteThem) {
  const auto worker = network->make_oracle(WorkerId{0});
  HostReplica<float> replica(network->start());
  ComputePoint<float> start(replica);
  std::vector<float> g(network->dimension());
  worker->gradient(start, {std::vector<std::uint32_t>{0, 1, 2}}, g);
  const std::vector<float> old{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(old));
  worker->restore(std::vector<Bytes>{{bytes.begin(), bytes.end()}});
  EXPECT_THAT(floats(worker->state()), ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 1));
}

TEST_F(ResumedNetwork, DrawsForABatchByItsNumberOnly) {
  const auto loss = [&](Oracle<float>& worker, std::uint64_t number) {
    std::vector<float> g(network->dimension());
    std::vector<float> x(network->dimension());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
    HostReplica<float> replica(x);
    ComputePoint<float> point(replica);
    return worker.gradient(point, {std::vector<std::uint32_t>{1, 2, 3}, number}, g);
  };
  const auto worker = network->make_oracle(WorkerId{0}), later = network->make_oracle(WorkerId{0});
  const double fifth = loss(*worker, 5);
  EXPECT_NE(loss(*worker, 6), fifth);
  EXPECT_EQ(loss(*worker, 5), fifth);
  EXPECT_EQ(loss(*later, 5), fifth);
}

}  // namespace
}  // namespace dasgd
