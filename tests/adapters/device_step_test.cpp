// The whole step on a device, held against the same step done one by one by this machine.
#include <ATen/ATen.h>
#include <atomic>
#include <c10/core/StreamGuard.h>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <torch/cuda.h>

#include "adapters/normalised_network.hpp"
#include "dasgd/adapters/torch/device/device_rule.hpp"
#include "dasgd/adapters/torch/device/own_stream.hpp"
#include "dasgd/adapters/torch/device/recorder.hpp"
#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/data/text_samples.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/rules/rule.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using torch_adapter::DeviceRule;

bool there_is_a_gpu() { return torch::cuda::is_available(); }

std::vector<float> some_numbers(std::size_t size, std::uint32_t salt) {
  Random chance(9, Purpose::test, salt);
  std::vector<float> values(size);
  for (float& v : values) v = static_cast<float>(chance.normal());
  return values;
}

std::vector<RuleOptions> all_rules() {
  using Kind = RuleOptions::Kind;
  std::vector<RuleOptions> all;
  for (const Kind kind : {Kind::sgd, Kind::momentum, Kind::nesterov, Kind::adam})
    for (const double decay : {0.0, 0.01})
      for (const bool clipped : {false, true}) {
        RuleOptions rule{.kind = kind, .weight_decay = decay};
        if (clipped) rule.clip = 3.0;
        all.push_back(rule);
      }
  return all;
}

class RuleOnDevice : public ::testing::TestWithParam<RuleOptions> {};

TEST_P(RuleOnDevice, GivesTheSameBitsAsOnThisMachine) {
  constexpr std::size_t dimension = 1003;
  std::vector<at::Device> devices{at::kCPU};
  if (there_is_a_gpu()) devices.emplace_back(at::kCUDA, 0);
  for (const at::Device device : devices) {
    StagedRule<float> here(GetParam(), 0.1, {});
    const auto x0 = some_numbers(dimension, 0);
    HostReplica<float> replica(x0);
    const at::Tensor x = at::from_blob(const_cast<float*>(x0.data()), {dimension}).to(device);
    std::optional<DeviceRule> there;
    const at::Tensor knobs = at::zeros({DeviceRule::knobs}, at::kDouble);
    for (std::uint32_t step = 1; step < 8; ++step) {
      // Half way, what is remembered goes to another instance, as through a checkpoint.
      if (step == 1 || step == 4)
        there.emplace(*here.recipe(), step == 1 ? here.memory() : there->memory(), x);
      auto g = some_numbers(dimension, step);
      const at::Tensor on_device = at::from_blob(g.data(), {dimension}).clone().to(device);
      there->next_knobs(here.step_size(step), knobs.data_ptr<double>());
      there->transform(knobs.to(device), x, on_device);
      EXPECT_EQ(here.prepare(step, replica, g), -knobs[0].item<double>());
      const at::Tensor found = on_device.to(at::kCPU);
      ASSERT_TRUE(std::equal(g.begin(), g.end(), found.data_ptr<float>()))
          << to_string(GetParam().kind) << " step " << step << " on " << device;
    }
    EXPECT_EQ(there->memory().first, here.memory().first);
    EXPECT_EQ(there->memory().second, here.memory().second);
    EXPECT_EQ(there->memory().seen, here.memory().seen);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleOnDevice, ::testing::ValuesIn(all_rules()));

/// Networks whose step is done as on a GPU, on a CPU and on a GPU where there is one.
std::vector<NetworkOptions> networks(const std::string& model) {
  std::vector<NetworkOptions> all{{.model = model, .as_on_gpu = true}};
  if (there_is_a_gpu()) {
    all.push_back({.model = model, .device = NetworkDevice::cuda});
    all.push_back({.model = model, .device = NetworkDevice::cuda, .graph = false});
  }
  return all;
}

std::shared_ptr<const Samples> pictures(bool changed = false) {
  PreparedSamples::Options options;
  if (changed) options.augmentation = {.flip = true, .crop = 2};
  return image_samples(test::tiny_image_set(20), options);
}

TEST(StepRecorder, DoesTheWorkOfAllInOneThreadAndThrowsWhatItThrows) {
  torch_adapter::StepRecorder recorder;
  std::set<std::thread::id> threads;
  int done = 0;  // without a lock: one at a time
  {
    std::vector<std::jthread> workers;
    for (int k = 0; k < 8; ++k)
      workers.emplace_back([&] {
        for (int step = 0; step < 50; ++step)
          recorder.run([&] {
            threads.insert(std::this_thread::get_id());
            ++done;
          });
      });
  }
  EXPECT_EQ(done, 400);
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  EXPECT_THROW(recorder.run([] { throw InputError("it cannot be recorded"); }), InputError);
  recorder.run([&] { ++done; });
  EXPECT_EQ(done, 401) << "an exception ends nothing";
}

// The stream that the next network will take; no-op without a GPU.
void keep_its_stream_busy() {
  if (!there_is_a_gpu()) return;
  const auto stream = torch_adapter::stream_of_its_own({at::kCUDA, 0});
  const c10::OptionalStreamGuard guard(*stream);
  at::Tensor a = at::rand({8192, 8192}, at::kCUDA);
  for (int k = 0; k < 40; ++k) a = at::mm(a, a);
}

TEST(DeviceStep, BeginsWithTheSameNumbersWhereTheGpuIsBusy) {
  const auto here = make_network({.model = "cnn"}, pictures())->start();
  for (const NetworkOptions& how : networks("cnn"))
    for (int k = 0; k < 3; ++k) {
      keep_its_stream_busy();
      EXPECT_EQ(make_network(how, pictures())->start(), here);
    }
}

// The guess is added to x by other operations than on a CPU: bits differ, what is learnt does not.
TEST(DeviceStep, LooksAheadAsStepsDoneOneByOneDo) {
  using Kind = RuleOptions::Kind;
  for (const Kind kind : {Kind::sgd, Kind::nesterov})
    for (const char* lambda : {"1", "auto"}) {
      TrainOptions options{.workers = 3, .eta = 0.01, .batch = 7, .gradients = {30}};
      options.rule.kind = kind;
      options.look_ahead = parse_look_ahead(lambda);
      VirtualWorld world;
      world.compute = TimeModel::constant(1'000'000);
      world.latency = TimeModel::constant(2'500'000);
      const auto run = [&](const NetworkOptions& how) {
        return run_simulation<float>(*make_network(how, pictures()), options, world);
      };
      const auto here = run({.model = "mlp"});
      for (const NetworkOptions& how : networks("mlp")) {
        const auto there = run(how);
        EXPECT_TRUE(there.summary.replicas_identical);
        EXPECT_EQ(there.summary.look_ahead->missing_estimated,
                  here.summary.look_ahead->missing_estimated);
        EXPECT_NEAR(there.summary.look_ahead->gap, here.summary.look_ahead->gap, 2e-3);
        EXPECT_NEAR(there.summary.lambda[0], here.summary.lambda[0], 1e-2);
        double difference = 0, norm = 0;
        for (std::size_t i = 0; i < here.model.size(); ++i) {
          difference += std::pow(there.model[i] - here.model[i], 2);
          norm += std::pow(here.model[i], 2);
        }
        EXPECT_LT(std::sqrt(difference / norm), 1e-3) << to_string(kind) << ' ' << lambda;
      }
      options.look_ahead = LookAhead{};
      EXPECT_NE(run({.model = "mlp", .as_on_gpu = true}).summary.replica_digest,
                here.summary.replica_digest);
    }
}

TEST(DeviceStep, OnACpuEndsWithTheBitsOfStepsDoneOneByOne) {
  for (const RuleOptions& rule : all_rules()) {
    if (rule.clip && rule.weight_decay == 0) continue;  // both, or neither
    const bool changed = rule.clip.has_value();
    const TrainOptions options{
        .workers = 1, .eta = 0.02, .rule = rule, .batch = 7, .gradients = {6}};
    const auto run = [&](bool as_on_gpu) {
      const auto network =
          make_network({.model = "cnn", .as_on_gpu = as_on_gpu}, pictures(changed));
      return run_training<float>(*network, options);
    };
    const auto whole = run(true), one_by_one = run(false);
    if (rule.kind != RuleOptions::Kind::adam) {
      EXPECT_EQ(whole.summary.replica_digest, one_by_one.summary.replica_digest)
          << to_string(rule.kind) << " changed " << changed;
      continue;
    }
    // LibTorch may round a gradient that is nearly zero in two ways, and Adam takes whole steps
    // there. That the rule itself gives the same bits is for RuleOnDevice.
    double difference = 0;
    for (std::size_t k = 0; k < whole.model.size(); ++k)
      difference += std::abs(static_cast<double>(whole.model[k] - one_by_one.model[k]));
    EXPECT_LT(difference / static_cast<double>(whole.model.size()), 1e-3);
  }
}

TEST(DeviceStep, UpdatesOfOthersAreReceivedWhereTheWorkersCompute) {
  const std::vector<WorkerId> workers{WorkerId{2}, WorkerId{3}};
  EXPECT_FALSE(make_network({.model = "cnn"}, pictures())->device_of(workers).make);
  const auto order = [&](bool channels_last) {
    const auto network = make_network(
        {.model = "cnn", .channels_last = channels_last, .as_on_gpu = true}, pictures());
    const DeviceBuffers room = network->device_of(workers);
    EXPECT_EQ(room.make()->size_in_bytes(), network->dimension() * sizeof(Number<float>));
    return room.order;
  };
  EXPECT_EQ(order(true), order(true));
  EXPECT_NE(order(true), order(false)) << "messages between such ranks would be garbled";
}

// Weights stand in another order there: x, and what momentum remembers, must not show it.
TEST(DeviceStep, WithChannelsInnermostEndsAtTheSameModel) {
  for (NetworkOptions how : networks("cnn")) {
    const auto run = [&](bool channels_last) {
      how.channels_last = channels_last;
      const auto network = make_network(how, pictures());
      return run_training<float>(*network, {.workers = 1,
                                            .eta = 0.02,
                                            .rule = {.kind = RuleOptions::Kind::momentum},
                                            .batch = 7,
                                            .gradients = {6}});
    };
    const auto permuted = run(true), plain = run(false);
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < plain.model.size(); ++k) {
      difference += std::abs(static_cast<double>(permuted.model[k] - plain.model[k]));
      size += std::abs(static_cast<double>(plain.model[k]));
    }
    EXPECT_LT(difference, 1e-3 * size);
    EXPECT_NEAR(permuted.summary.loss, plain.summary.loss, 1e-3);
  }
}

TEST(DeviceStep, SeveralWorkersEndWithIdenticalReplicas) {
  for (const NetworkOptions& how : networks("mlp")) {
    const auto network = make_network(how, image_samples(test::tiny_image_set(8)));
    const auto result = run_training<float>(
        *network,
        {.workers = 3, .eta = 0.05, .batch = 8, .epochs = 10, .slow = {{WorkerId{1}, 3}}});
    EXPECT_FALSE(result.failure);
    EXPECT_TRUE(result.summary.audit_is_clean()) << network->engine();
    EXPECT_GT(*result.summary.accuracy, 0.9) << network->engine();
  }
}

TEST(DeviceStep, FoldsWhatWaitsForASlowWorker) {
  for (const NetworkOptions& how : networks("mlp")) {
    const auto network = make_network(how, pictures());
    const auto result = run_training<float>(*network, {.workers = 3,
                                                       .eta = 0.01,
                                                       .batch = 4,
                                                       .total_gradients = 400,
                                                       .slow = {{WorkerId{2}, 50}},
                                                       .in_flight = 1});
    EXPECT_FALSE(result.failure);
    EXPECT_TRUE(result.summary.audit_is_clean()) << network->engine();
  }
}

TEST(DeviceStep, SimulatesTheSameTwice) {
  for (const NetworkOptions& how : networks("mlp")) {
    if (how.device == NetworkDevice::cuda) continue;  // sums on a GPU have no fixed order
    const auto digest = [&] {
      const auto network = make_network(how, pictures());
      const TrainOptions options{.workers = 3, .eta = 0.05, .batch = 8, .gradients = {10}};
      return run_simulation<float>(*network, options, {}).summary.replica_digest;
    };
    EXPECT_EQ(digest(), digest());
  }
}

// On a GPU some record their steps while others still try out how to compute.
TEST(DeviceStep, SimulationsBesideEachOtherDoNotDisturbEachOther) {
  for (const NetworkOptions& how : networks("cnn")) {
    std::atomic<int> clean{0};
    const auto simulate = [&] {
      try {
        const auto network = make_network(how, pictures());
        const auto result = run_simulation<float>(
            *network, {.workers = 3, .eta = 0.01, .batch = 4, .gradients = {5}}, {});
        if (!result.failure && result.summary.audit_is_clean()) ++clean;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    };
    {
      std::vector<std::jthread> beside;
      for (int k = 0; k < 4; ++k) beside.emplace_back(simulate);
    }
    EXPECT_EQ(clean, 4);
  }
}

TEST(DeviceStep, AStepThatDivergesIsFoundAndAllReplicasAreGood) {
  for (const NetworkOptions& how : networks("mlp")) {
    const auto network = make_network(how, pictures());
    const auto result =
        run_training<float>(*network, {.workers = 2, .eta = 1e6, .batch = 8, .gradients = {200}});
    EXPECT_TRUE(result.failure);
    EXPECT_EQ(result.summary.stop_reason, StopReason::diverged);
    EXPECT_TRUE(result.summary.replicas_identical);
  }
}

TEST(DeviceStep, StatisticsOfBatchNormalisationAreThereAtTheEnd) {
  test::TemporaryDirectory directory;
  const std::string path = test::write_normalised_network(directory);
  for (const NetworkOptions& how : networks(path)) {
    const auto samples = image_samples(test::tiny_image_set(8));
    const auto network = make_network(how, samples);
    const std::string before = network->torchscript(network->start());
    run_training<float>(*network, {.workers = 2, .eta = 0.01, .batch = 8, .gradients = {20}});
    EXPECT_NE(network->torchscript(network->start()), before) << network->engine();
  }
}

TEST(DeviceStep, ASavedNetworkCountsTheBatchesOfItsRun) {
  test::TemporaryDirectory directory;
  const std::string path = test::write_normalised_network(directory);
  const auto count_in = [](const std::string& script) {
    std::istringstream file(script);
    for (const auto& buffer : torch::jit::load(file).named_buffers())
      if (buffer.name.ends_with("num_batches_tracked")) return buffer.value.item<int>();
    return -1;
  };
  for (const NetworkOptions& how : networks(path)) {
    const auto network = make_network(how, image_samples(test::tiny_image_set(8)));
    EXPECT_EQ(count_in(network->torchscript(network->start())), 0) << "before: " << how.model;
    run_training<float>(*network, {.workers = 2, .eta = 0.01, .batch = 8, .gradients = {20}});
    EXPECT_EQ(count_in(network->torchscript(network->start())), 20) << network->engine();
  }
}

TEST(DeviceStep, GptLearnsWhatFollows) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "to be or not; ";
  for (NetworkOptions how : networks("gpt")) {
    how.gpt = {32, 2, 2, 0};
    const auto network = make_network(how, std::make_shared<TextSamples>(text, 16, "text"));
    const double before = network->loss(network->start());
    const auto result = run_training<float>(*network, {.workers = 2,
                                                       .eta = 0.01,
                                                       .rule = {.kind = RuleOptions::Kind::adam},
                                                       .batch = 8,
                                                       .gradients = {150}});
    EXPECT_LT(result.summary.loss, before / 2) << network->engine();
  }
}

TEST(DeviceStep, GptHasTheParametersOfItsShape) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "to be or not; ";
  const auto samples = std::make_shared<TextSamples>(text, 16, "text");
  NetworkOptions how{.model = "gpt", .gpt = {24, 3, 4, 100}};
  // Tokens, positions; two norms, four layers with their biases in each block; the last norm.
  const std::size_t block = 4 * 24 + 24 * (72 + 24 + 96) + (72 + 24 + 96) + 96 * 24 + 24;
  const auto expected = [&] { return 100 * 24 + 16 * 24 + how.gpt.depth * block + 48; };
  EXPECT_EQ(make_network(how, samples)->dimension(), expected());
  how.gpt.depth = 24;  // a depth for which LibTorch needs no more than for others
  EXPECT_EQ(make_network(how, samples)->dimension(), expected());
}

TEST(DeviceStep, LowerPrecisionStillTrains) {
  if (!there_is_a_gpu()) GTEST_SKIP() << "needs a GPU and a LibTorch with CUDA";
  for (const NetworkPrecision precision : {NetworkPrecision::tf32, NetworkPrecision::bf16}) {
    const auto network = make_network({.model = "cnn",
                                       .device = NetworkDevice::cuda,
                                       .precision = precision,
                                       .channels_last = true},
                                      pictures());
    const double before = network->loss(network->start());
    const auto result =
        run_training<float>(*network, {.workers = 2, .eta = 0.02, .batch = 8, .epochs = 10});
    EXPECT_TRUE(result.summary.audit_is_clean());
    EXPECT_LT(result.summary.loss, before);
  }
}

}  // namespace
}  // namespace dasgd
