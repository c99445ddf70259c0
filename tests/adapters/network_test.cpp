#include "dasgd/adapters/torch/network.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <torch/script.h>

#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/adapters/torch/plain_errors.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/data/text_samples.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"
#include "support/message.hpp"
#include "support/tables.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Samples> colour_images(std::size_t side = 32) {
  return image_samples(test::tiny_image_set(side));
}

std::vector<std::uint32_t> some_rows(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t r = first; r < first + count; ++r) rows.push_back(r);
  return rows;
}

TEST(Network, TheCnnHasTheParametersOfThePaper) {
  EXPECT_EQ(make_network({.model = "cnn"}, colour_images())->dimension(), 122'570u);
}

TEST(Network, ResNet18HasItsParameters) {
  EXPECT_EQ(make_network({.model = "resnet18"}, colour_images(8))->dimension(), 11'173'962u);
}

TEST(Network, StartsWhereItsSeedSays) {
  const auto samples = colour_images();
  const auto one = make_network({.model = "cnn", .seed = 3}, samples)->start();
  EXPECT_EQ(make_network({.model = "cnn", .seed = 3}, samples)->start(), one);
  EXPECT_NE(make_network({.model = "cnn", .seed = 4}, samples)->start(), one);
}

TEST(Network, GradientsAgreeWithDifferencesOfTheLoss) {
  const auto network = make_network({.model = "mlp"}, colour_images(4));
  const auto rows = some_rows(0, 20);
  std::vector<float> x = network->start(), g(x.size()), unused(x.size());
  network->gradient(x, rows, g);
  for (const std::size_t i : {std::size_t{5}, std::size_t{7000}, x.size() - 3}) {
    constexpr float step = 1e-2f;
    const float before = x[i];
    x[i] = before + step;
    const double up = network->gradient(x, rows, unused);
    x[i] = before - step;
    const double down = network->gradient(x, rows, unused);
    x[i] = before;
    EXPECT_NEAR((up - down) / (2 * step), g[i], 1e-3) << i;
  }
}

TEST(Network, EveryWorkerComputesTheSameAtTheSameTime) {
  const auto network = make_network({.model = "cnn"}, colour_images());
  const std::vector<float> x = network->start();
  const auto rows = some_rows(10, 32);
  std::vector<float> alone(x.size());
  const double loss = network->gradient(x, rows, alone);
  std::vector<std::vector<float>> found(3, std::vector<float>(x.size()));
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < found.size(); ++w)
      threads.emplace_back([&, w] {
        const auto own = network->make_oracle(worker_id(w));
        const auto replica = own->make_replica(x);
        ComputePoint<float> point(*replica);
        const auto next = some_rows(50, 32);
        for (int round = 0; round < 3; ++round) {
          EXPECT_EQ(own->gradient(point, {.rows = rows, .upcoming = next}, found[w]), loss);
          std::vector<float> other(x.size());
          own->gradient(point, {.rows = next, .upcoming = rows}, other);
        }
      });
  }
  for (const auto& gradient : found) EXPECT_EQ(gradient, alone);
}

// But for the last digits, which some libraries choose by the place of a vector in memory.
bool is_near(const std::vector<float>& some, const std::vector<float>& others) {
  float largest = 0;
  for (const float value : others) largest = std::max(largest, std::abs(value));
  return std::ranges::equal(some, others, [&](float one, float other) {
    return std::abs(one - other) <= 1e-4f * largest;
  });
}

// A BLAS whose callers share a workspace answers wrongly without an error; products of matrices are
// most of this network's work.
TEST(Network, NobodySpoilsTheProductsOfAnother) {
  const auto network = make_network({.model = "mlp"}, colour_images(16));
  const std::vector<float> x = network->start();
  std::vector<float> alone(x.size());
  network->gradient(x, some_rows(0, 32), alone);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&] {
        std::vector<float> gradient(x.size());
        for (int round = 0; round < 200; ++round) {
          network->gradient(x, some_rows(0, 32), gradient);
          wrong += !is_near(gradient, alone);
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Network, TrainsOnThreadsWithIdenticalReplicas) {
  const auto network = make_network({.model = "mlp"}, colour_images(8));
  const auto result = run_training<float>(
      *network, {.workers = 3, .eta = 0.05, .batch = 8, .epochs = 10, .slow = {{WorkerId{1}, 3}}});
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.summary.audit_is_clean());
  EXPECT_GT(*result.summary.accuracy, 0.9);
}

TEST(Network, SimulatesTheSameOnAnyNumberOfCores) {
  const TrainOptions options{.workers = 3, .eta = 0.05, .batch = 8, .gradients = {10}};
  const auto digest = [&](unsigned threads) {
    const auto network = make_network({.model = "mlp"}, colour_images(8));
    return run_simulation<float>(*network, options, {.threads = threads}).summary.replica_digest;
  };
  EXPECT_EQ(digest(1), digest(3));
}

TEST(Network, TheTransformerLearnsWhatFollows) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "to be or not; ";
  const auto network =
      make_network({.model = "char-transformer"}, std::make_shared<TextSamples>(text, 16, "text"));
  const double before = network->loss(network->start());
  const auto result =
      run_training<float>(*network, {.workers = 2, .eta = 0.2, .batch = 8, .gradients = {250}});
  EXPECT_LT(result.summary.loss, before / 2);
  EXPECT_GT(*result.summary.accuracy, 0.6);
}

TEST(Network, FitsRealTargets) {
  std::vector<float> inputs;
  std::vector<double> targets;
  for (int i = 0; i < 200; ++i) {
    const float a = static_cast<float>(i % 17) / 17, b = static_cast<float>(i % 23) / 23;
    inputs.insert(inputs.end(), {a, b});
    targets.push_back(2 * a - b);
  }
  const auto network = make_network({.model = "mlp", .loss = NetworkLoss::mean_squared_error},
                                    test::table_samples(inputs, 2, targets, false));
  const auto result =
      run_training<float>(*network, {.workers = 2, .eta = 0.05, .batch = 10, .epochs = 20});
  EXPECT_LT(result.summary.loss, 0.01);
  EXPECT_FALSE(result.summary.accuracy);
}

/// Three classes of three numbers each; the same nine weights twice, the second time as `again`
/// makes them.
std::string write_tied_network(const test::TemporaryDirectory& directory,
                               const std::function<at::Tensor(const at::Tensor&)>& again) {
  torch::jit::Module module("test.Tied");
  const at::Tensor weight = torch::arange(9).to(at::kFloat).div(9).reshape({3, 3});
  module.register_parameter("a", weight.set_requires_grad(true), false);
  module.register_parameter("b", again(weight), false);
  module.define(R"(
def forward(self, x):
    return torch.linear(torch.tanh(torch.linear(x, self.a)), self.b)
)");
  module.save(directory.file("tied.pt"));
  return directory.file("tied.pt");
}

TEST(Network, WeightsThatAreUsedTwiceAreTrainedOnce) {
  std::vector<float> inputs;
  std::vector<double> targets;
  for (int i = 0; i < 30; ++i) {
    for (const int k : {3, 5, 7}) inputs.push_back(static_cast<float>(i % k));
    targets.push_back(i % 3);
  }
  const auto samples = test::table_samples(inputs, 3, targets, true);
  const auto rows = some_rows(0, 20);
  const auto shared = [](at::Tensor view) { return view.set_requires_grad(true); };
  for (const auto& again : std::vector<std::function<at::Tensor(const at::Tensor&)>>{
           [](const at::Tensor& w) { return w; },
           [&](const at::Tensor& w) { return shared(w.detach()); },
           [&](const at::Tensor& w) { return shared(w.detach().t()); }}) {
    const test::TemporaryDirectory directory;
    const auto network = make_network({.model = write_tied_network(directory, again)}, samples);
    ASSERT_EQ(network->dimension(), 9u);
    std::vector<float> x = network->start(), g(9), unused(9);
    network->gradient(x, rows, g);
    for (std::size_t i = 0; i < 9; ++i) {
      constexpr float step = 1e-2f;
      const float before = x[i];
      x[i] = before + step;
      const double up = network->gradient(x, rows, unused);
      x[i] = before - step;
      const double down = network->gradient(x, rows, unused);
      x[i] = before;
      EXPECT_NEAR(g[i], (up - down) / (2 * step), 2e-3);
    }
  }
}

class BadNetwork : public ::testing::Test {
 protected:
  std::string refusal(const NetworkOptions& options, std::shared_ptr<const Samples> samples) {
    return test::message_of<InputError>([&] { make_network(options, samples); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(BadNetwork, AFileThatIsNotTorchScriptIsNamed) {
  const std::string path = directory.write("bad.pt", "this is text");
  const std::string refused = refusal({.model = path}, colour_images());
  EXPECT_THAT(refused, HasSubstr("bad.pt: is not a TorchScript file that can be used"));
  EXPECT_EQ(refused.find('\n'), std::string::npos) << refused;
  EXPECT_THAT(refusal({.model = directory.file("none.pt")}, colour_images()),
              HasSubstr("none.pt: cannot be read"));
}

TEST_F(BadNetwork, ShapesThatDoNotFitAreReportedInOneLine) {
  const auto network = make_network({.model = "cnn"}, colour_images());
  const std::string path = directory.write("cnn.pt", network->torchscript(network->start()));
  const std::string refused = refusal({.model = path}, colour_images(20));
  EXPECT_THAT(refused, HasSubstr("cnn.pt: does not fit samples of 3 x 20 x 20 with 10 classes: "));
  EXPECT_EQ(refused.find('\n'), std::string::npos) << refused;
  EXPECT_THAT(refusal({.model = "cnn"}, colour_images(8)), HasSubstr("18 x 18 pixels or more"));
  EXPECT_THAT(refusal({.model = "char-transformer"}, colour_images()), HasSubstr("needs a text"));
}

TEST_F(BadNetwork, ALabelBeyondTheOutputsIsReportedInOneLine) {
  const auto network = make_network({.model = "mlp"}, image_samples(test::tiny_image_set(8, 3)));
  const std::string path = directory.write("three.pt", network->torchscript(network->start()));
  const std::string refused = refusal({.model = path}, colour_images(8));
  EXPECT_THAT(refused, HasSubstr("three.pt: does not fit samples of 3 x 8 x 8 with 10 classes: it "
                                 "gives 3 outputs, too few for a label of 9"));
  EXPECT_EQ(refused.find('\n'), std::string::npos) << refused;
}

TEST_F(BadNetwork, AFileThatWasTrainedBeforeGoesOnFromThere) {
  const auto network = make_network({.model = "mlp"}, colour_images(8));
  std::vector<float> x = network->start();
  for (float& v : x) v *= 0.5f;
  const std::string path = directory.write("half.pt", network->torchscript(x));
  EXPECT_EQ(make_network({.model = path}, colour_images(8))->start(), x);
}

TEST(Network, WhatAGpuSaysIsOneLine) {
  const auto one_line_of = [](const char* by_libtorch) -> std::string {
    try {
      torch_adapter::with_plain_errors([&] {
        torch_adapter::with_plain_errors([&] { throw std::runtime_error(by_libtorch); });
      });
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(one_line_of(
                "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nCUDA kernel errors "
                "might be asynchronously reported\n"),
            "the GPU cannot be used: CUDA error: CUDA-capable device(s) is/are busy or "
            "unavailable");
  EXPECT_THAT(one_line_of("CUDA out of memory. Tried to allocate 3.00 GiB\nmore"),
              testing::StartsWith("the GPU is out of memory; use a smaller `batch`"));
  EXPECT_EQ(one_line_of("shapes do not fit\nat line 3"), "shapes do not fit");
  EXPECT_THROW(torch_adapter::with_plain_errors([] { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace dasgd
