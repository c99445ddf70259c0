#include "dasgd/adapters/torch/device/device_replica.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <torch/cuda.h>
#include <torch/script.h>
#include <utility>

#include "adapters/normalised_network.hpp"
#include "dasgd/adapters/torch/device/torch_update.hpp"
#include "dasgd/adapters/torch/network.hpp"
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

/// A way to add on a device.
struct Way {
  std::string name;
  at::Device device;
  const Integers* integers;
  bool permuted = false;  // the numbers have another order there

  friend void PrintTo(const Way& way, std::ostream* to) { *to << way.name; }
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const at::Device device : devices()) {
    all.push_back(
        {device.is_cpu() ? "CpuByOperators" : "GpuByOperators", device, &integers_by_operators()});
    if (!device.is_cpu() && integers_by_kernels())
      all.push_back({"GpuByKernels", device, integers_by_kernels()});
    all.push_back(all.back());
    all.back().name += "Turned";
    all.back().permuted = true;
  }
  return all;
}

class OnDevice : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    memory->layout =
        TensorLayout({at::empty({20, 10, 3, 4}), at::empty({601})}, GetParam().permuted);
    memory->x = at::empty({dimension}, at::TensorOptions().device(GetParam().device));
  }
  DeviceReplica replica(std::span<const float> x0) { return {x0, memory, GetParam().integers}; }

  /// A gradient of this machine through the arithmetic of the device.
  GradientPtr rounded_there(DeviceReplica& there, double eta, const std::vector<float>& g) {
    const DeviceMemory& memory = *there.memory();
    const auto options = memory.x.options();
    const at::Tensor gradient =
        memory.layout.there(at::from_blob(const_cast<float*>(g.data()), {dimension}))
            .to(options.device());
    const StepNotes notes(there.notes());
    auto numbers = std::make_shared<TorchUpdate>(dimension, options.device(), memory.layout);
    there.integers().measure(gradient, notes);
    there.integers().round_and_add(gradient, at::full({}, -eta, options.dtype(at::kDouble)),
                                   numbers->update(), there.sums_there(), memory.x, notes);
    numbers->mark_written(memory.stream);
    there.stepped();
    auto sent = std::make_shared<Gradient>();
    sent->name = {WorkerId{3}, sequence++};
    sent->update.put(std::move(numbers), NumberFormat::of_float);
    return sent;
  }

  static constexpr std::size_t dimension = 3001;
  std::uint32_t sequence = 0;
  std::shared_ptr<DeviceMemory> memory = std::make_shared<DeviceMemory>();
};

std::span<const float> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

TEST_P(OnDevice, HoldsTheSameBitsAsAReplicaOfThisMachine) {
  const auto x0 = noise(dimension, 0, 1);
  HostReplica<float> here(x0);
  DeviceReplica there = replica(x0);
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
  const at::Tensor seen = memory->layout.in_order(memory->x).to(at::kCPU);
  EXPECT_TRUE(std::ranges::equal(here.x(), values_of(seen))) << "what the network computes with";
}

TEST_P(OnDevice, RoundsToTheSameBitsAsThisMachine) {
  const auto x0 = noise(dimension, 0, 1);
  HostReplica<float> here(x0), other(x0);
  DeviceReplica there = replica(x0), another = replica(x0);
  std::vector<GradientPtr> sent;
  for (int k = -140; k < 13; k += 3) {  // from numbers that are hardly above zero
    auto g = noise(dimension, static_cast<std::uint32_t>(k + 200), std::ldexp(1.0, k));
    g[7] = 0;
    Update update;
    ASSERT_FALSE(here.apply_own(0.37, g, update)) << k;
    sent.push_back(rounded_there(there, 0.37, g));
    EXPECT_TRUE(std::ranges::equal(update.bytes(), std::as_const(sent.back()->update).bytes()))
        << k;
    EXPECT_EQ(update.shift, sent.back()->update.shift) << k;
  }
  EXPECT_TRUE(std::ranges::equal(here.sums(), there.sums()));
  another.apply(sent);
  other.apply(sent);
  EXPECT_TRUE(std::ranges::equal(another.sums(), there.sums())) << "added where they are";
  EXPECT_TRUE(std::ranges::equal(other.sums(), there.sums())) << "fetched";
  const GradientPtr nothing = rounded_there(there, 0.37, std::vector<float>(dimension));
  EXPECT_TRUE(std::ranges::equal(here.sums(), there.sums()));
}

TEST_P(OnDevice, WhatIsFoldedThereIsTheSameSum) {
  const auto x0 = noise(dimension, 0, 1);
  DeviceReplica origin = replica(x0), behind = replica(x0);
  HostReplica<float> here(x0);
  const auto some = [&](int count) {
    std::vector<GradientPtr> sent;
    for (int k = 0; k < count; ++k)
      sent.push_back(rounded_there(origin, 0.1, noise(dimension, sequence, std::ldexp(1.0, k))));
    return sent;
  };
  Bundle first, second, both;
  first.add(some(11));
  second.add(some(2));
  both.add(first);
  both.add(second);
  ASSERT_TRUE(both.on_device()) << "folded where they lie";
  behind.apply(both);
  EXPECT_TRUE(std::ranges::equal(behind.sums(), origin.sums()));
  here.apply(both);
  EXPECT_TRUE(std::ranges::equal(here.sums(), origin.sums())) << "fetched";

  Update of_this_machine;
  ASSERT_FALSE(origin.apply_own(0.1, noise(dimension, 99, 1), of_this_machine));
  auto sent = std::make_shared<Gradient>();
  sent->name = {WorkerId{4}, 0};
  sent->update = of_this_machine;
  both.add(std::vector<GradientPtr>{sent});
  EXPECT_FALSE(both.on_device()) << "one of them lies here";
  DeviceReplica late = replica(x0);
  late.apply(both);
  EXPECT_TRUE(std::ranges::equal(late.sums(), origin.sums()));
}

TEST_P(OnDevice, AddsWhatLiesOnAnotherDevice) {
  const auto x0 = noise(dimension, 0, 1);
  for (const at::Device device : devices()) {
    auto far_away = std::make_shared<DeviceMemory>(*memory);
    far_away->x = at::empty({dimension}, memory->x.options().device(device));
    DeviceReplica origin(x0, far_away), at_once = replica(x0), behind = replica(x0);
    std::vector<GradientPtr> sent;
    for (int k = 0; k < 5; ++k)
      sent.push_back(rounded_there(origin, 0.1, noise(dimension, sequence, std::ldexp(1.0, k))));
    at_once.apply(sent);
    EXPECT_TRUE(std::ranges::equal(at_once.sums(), origin.sums())) << device;

    Bundle folded, mixed;
    folded.add(sent);
    behind.apply(folded);
    EXPECT_TRUE(std::ranges::equal(behind.sums(), origin.sums())) << device;
    mixed.add({{rounded_there(at_once, 0.1, noise(dimension, sequence, 1))}});
    mixed.add(folded);
    ASSERT_TRUE(mixed.on_device()) << "folded where the first of them lies";
    DeviceReplica late = replica(x0);
    late.apply(mixed);
    EXPECT_TRUE(std::ranges::equal(late.sums(), at_once.sums())) << device;
  }
}

TEST_P(OnDevice, AMessageFromMemoryToMemoryIsAWholeUpdate) {
  const auto x0 = noise(dimension, 0, 1);
  DeviceReplica origin = replica(x0), other = replica(x0);
  HostReplica<float> here(x0);
  const auto bytes_at = [&](DeviceUpdate& numbers) {
    return at::from_blob(numbers.memory().data(),
                         {static_cast<std::int64_t>(numbers.memory().size())},
                         at::TensorOptions().device(GetParam().device).dtype(at::kByte));
  };
  for (const int scale : {0, 12}) {  // with a shift and without
    const GradientPtr sent =
        rounded_there(origin, 0.1, noise(dimension, 1, std::ldexp(1.0, scale)));
    const auto room = TorchUpdate::room(dimension, GetParam().device, memory->layout);
    ASSERT_TRUE(room->ready());
    ASSERT_EQ(room->memory().size(), (dimension + 1) * sizeof(std::int32_t));
    ASSERT_EQ(room->size_in_bytes(), dimension * sizeof(std::int32_t));
    bytes_at(*room).copy_(bytes_at(*sent->update.on_device()));
    auto received = std::make_shared<Gradient>();
    received->update.put(room, NumberFormat::of_float);
    const std::vector<GradientPtr> one{received};
    other.apply(one);
    EXPECT_TRUE(std::ranges::equal(other.sums(), origin.sums())) << scale;
    here.apply(one);
    EXPECT_TRUE(std::ranges::equal(here.sums(), origin.sums())) << scale << ", fetched";
  }
}

TEST_P(OnDevice, AGradientThatDivergesChangesNothing) {
  DeviceReplica there = replica(noise(dimension, 0, 1));
  const std::vector<Sum<float>> before(there.sums().begin(), there.sums().end());
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 1e9f}) {
    auto g = noise(dimension, 1, 1);
    g[17] = bad;
    rounded_there(there, 0.01, g);
    EXPECT_EQ(StepNotes(there.notes()).diverged.item<double>(), 1) << bad;
    EXPECT_TRUE(std::ranges::equal(there.sums(), before)) << bad;
  }
  rounded_there(there, 0.01, noise(dimension, 1, 1));
  EXPECT_EQ(StepNotes(there.notes()).diverged.item<double>(), 0);
}

TEST_P(OnDevice, FindsDivergenceBeforeAnythingIsApplied) {
  DeviceReplica there = replica(noise(dimension, 0, 1));
  auto g = noise(dimension, 1, 1);
  g[17] = std::numeric_limits<float>::quiet_NaN();
  Update update;
  const std::vector<Sum<float>> before(there.sums().begin(), there.sums().end());
  EXPECT_EQ(there.apply_own(0.01, g, update), 17u);
  EXPECT_TRUE(std::ranges::equal(there.sums(), before));
}

TEST_P(OnDevice, RemembersThatItLeftItsRange) {
  DeviceReplica there = replica(std::vector<float>(dimension));
  std::vector<float> g(dimension);
  g[17] = g[19] = 4000;
  Update update;
  for (int i = 0; i < 60; ++i) ASSERT_FALSE(there.apply_own(1, g, update));
  there.x();
  EXPECT_FALSE(there.diverged_at());
  for (int i = 0; i < 60; ++i) ASSERT_FALSE(there.apply_own(1, g, update));
  there.x();
  EXPECT_EQ(there.diverged_at(), 17u);
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, ::testing::ValuesIn(ways()),
                         [](const auto& info) { return info.param.name; });

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
  HostReplica<float> replica(network->start());
  ComputePoint<float> start(replica);
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
