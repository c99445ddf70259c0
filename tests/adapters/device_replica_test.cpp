#include "dasgd/adapters/torch/device_replica.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <torch/cuda.h>

#include "adapters/normalised_network.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/runtime/train.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_images.hpp"

namespace dasgd::torch_adapter {
namespace {

/// The CPU as a device, and a GPU where there is one: the code is the same.
std::vector<at::Device> devices() {
  std::vector<at::Device> all{at::Device(at::kCPU)};
  if (torch::cuda::is_available()) all.emplace_back(at::kCUDA, 0);
  return all;
}

std::vector<float> noise(std::size_t size, std::uint32_t salt, double scale) {
  Random chance(5, Purpose::test, salt);
  std::vector<float> values(size);
  for (float& v : values) v = static_cast<float>(chance.normal() * scale);
  return values;
}

class OnDevice : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    ASSERT_LT(GetParam(), devices().size());
    memory->x = at::empty({dimension}, at::TensorOptions().device(devices()[GetParam()]));
  }
  static constexpr std::size_t dimension = 3001;
  std::shared_ptr<DeviceMemory> memory = std::make_shared<DeviceMemory>();
};

TEST_P(OnDevice, HoldsTheSameBitsAsAReplicaOfThisMachine) {
  const auto x0 = noise(dimension, 0, 1);
  HostReplica<float> here(x0);
  DeviceReplica there(x0, memory);
  EXPECT_TRUE(std::ranges::equal(here.x(), there.x()));
  std::vector<GradientPtr> foreign;
  for (std::uint32_t k = 1; k < 20; ++k) {
    const auto g = noise(dimension, k, std::ldexp(1.0, static_cast<int>(k % 7) * 3 - 10));
    auto sent = std::make_shared<Gradient>();
    Update update;
    ASSERT_FALSE(here.apply_own(0.01, g, sent->update));
    ASSERT_FALSE(there.apply_own(0.01, g, update));
    EXPECT_EQ(sent->update.shift, update.shift);
    EXPECT_TRUE(std::ranges::equal(sent->update.bytes(), update.bytes()));
    foreign.push_back(sent);
  }
  std::reverse(foreign.begin(), foreign.end());
  here.apply(foreign);
  there.apply(foreign);
  EXPECT_TRUE(std::ranges::equal(here.sums(), there.sums()));
  EXPECT_TRUE(std::ranges::equal(here.x(), there.x()));
  there.refresh();
  const at::Tensor seen = memory->x.to(at::kCPU);
  EXPECT_TRUE(
      std::ranges::equal(here.x(), std::span<const float>(seen.data_ptr<float>(), dimension)))
      << "what the network computes with";
}

TEST_P(OnDevice, FindsDivergenceBeforeAnythingIsApplied) {
  DeviceReplica there(noise(dimension, 0, 1), memory);
  auto g = noise(dimension, 1, 1);
  g[17] = std::numeric_limits<float>::quiet_NaN();
  Update update;
  const std::vector<Sum<float>> before(there.sums().begin(), there.sums().end());
  EXPECT_EQ(there.apply_own(0.01, g, update), 17u);
  EXPECT_TRUE(std::ranges::equal(there.sums(), before));
}

TEST_P(OnDevice, RemembersThatItLeftItsRange) {
  DeviceReplica there(std::vector<float>(dimension), memory);
  std::vector<float> g(dimension);
  g[17] = g[19] = 4000;
  Update update;
  for (int i = 0; i < 60; ++i) ASSERT_FALSE(there.apply_own(1, g, update));
  there.refresh();
  EXPECT_FALSE(there.diverged_at());
  for (int i = 0; i < 60; ++i) ASSERT_FALSE(there.apply_own(1, g, update));
  there.refresh();
  EXPECT_EQ(there.diverged_at(), 17u);
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, ::testing::Range(std::size_t{0}, devices().size()));

TEST(Buffers, AreAveragedOverTheWorkersOfARun) {
  test::TemporaryDirectory directory;
  const std::string path = test::write_normalised_network(directory);
  const auto network = make_network({.model = path}, image_samples(test::tiny_image_set(8)));
  const auto mean_in = [&] {
    std::istringstream bytes(network->torchscript(network->start()));
    return torch::jit::load(bytes).attr("network").toModule().attr("mean").toTensor();
  };
  EXPECT_TRUE(mean_in().equal(torch::zeros({3}))) << "trying a network out leaves no trace";
  std::vector<float> g(network->dimension());
  HostReplica<float> start(network->start());
  const auto first = network->make_oracle(WorkerId{0}), second = network->make_oracle(WorkerId{1});
  const std::vector<std::uint32_t> some{0, 1, 2, 3}, others{14, 15, 16};
  first->gradient(start, {some}, g);
  const at::Tensor of_first = mean_in();
  second->gradient(start, {others}, g);
  const at::Tensor of_both = mean_in();
  const auto again = network->make_oracle(WorkerId{0});  // another run
  again->gradient(start, {others}, g);
  const at::Tensor of_second = mean_in();
  EXPECT_FALSE(of_first.allclose(of_second));
  EXPECT_TRUE(of_both.allclose((of_first + of_second) / 2));
}

}  // namespace
}  // namespace dasgd::torch_adapter
