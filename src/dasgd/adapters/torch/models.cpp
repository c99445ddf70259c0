#include "dasgd/adapters/torch/models.hpp"

#include <cmath>
#include <fmt/format.h>

#include "dasgd/adapters/torch/builder.hpp"
#include "dasgd/adapters/torch/gpt.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::torch_adapter {
namespace {

void require_images(const std::string& name, const SampleFormat& format, std::int64_t least) {
  if (format.tokens || format.input.size() != 3)
    throw InputError("`model` " + name + " needs images, not samples of " + format.input_shape());
  if (format.input[1] < least || format.input[2] < least)
    throw InputError(
        fmt::format("`model` {} needs images of {} x {} pixels or more, not of {} x {}", name,
                    least, least, format.input[1], format.input[2]));
}

// As many outputs as classes, or one number.
std::int64_t outputs(const SampleFormat& format) {
  return format.classes > 0 ? static_cast<std::int64_t>(format.classes) : 1;
}

// The network of the paper's section 5, which is a public tutorial's; 122,570 parameters on
// CIFAR-10.
Module cnn(const SampleFormat& format, Builder make) {
  require_images("cnn", format, 18);
  const auto after = [](std::int64_t size) { return ((size - 2) / 2 - 2) / 2 - 2; };
  Module net = Builder::module("Cnn");
  net.register_module("conv1", make.convolution(format.input[0], 32, 3, 1, 0, true));
  net.register_module("conv2", make.convolution(32, 64, 3, 1, 0, true));
  net.register_module("conv3", make.convolution(64, 64, 3, 1, 0, true));
  net.register_module("dense1",
                      make.linear(64 * after(format.input[1]) * after(format.input[2]), 64));
  net.register_module("dense2", make.linear(64, outputs(format)));
  net.define(R"(
def forward(self, x):
    x = torch.max_pool2d(torch.relu(self.conv1.forward(x)), [2, 2])
    x = torch.max_pool2d(torch.relu(self.conv2.forward(x)), [2, 2])
    x = torch.flatten(torch.relu(self.conv3.forward(x)), 1)
    x = torch.relu(self.dense1.forward(x))
    return self.dense2.forward(x)
)");
  return net;
}

Module mlp(const SampleFormat& format, Builder make) {
  if (format.tokens) throw InputError("`model` mlp needs images or rows of numbers, not text");
  std::int64_t inputs = 1;
  for (const std::int64_t size : format.input) inputs *= size;
  Module net = Builder::module("Mlp");
  net.register_module("dense1", make.linear(inputs, 128));
  net.register_module("dense2", make.linear(128, 128));
  net.register_module("dense3", make.linear(128, outputs(format)));
  net.define(R"(
def forward(self, x):
    x = torch.relu(self.dense1.forward(torch.flatten(x, 1)))
    x = torch.relu(self.dense2.forward(x))
    return self.dense3.forward(x)
)");
  return net;
}

// Two 3 x 3 convolutions and a way around them.
Module residual_block(Builder& make, std::int64_t in, std::int64_t out, std::int64_t stride) {
  Module block = Builder::module(in == out ? "Block" : "WideningBlock");
  block.register_module("conv1", make.convolution(in, out, 3, stride, 1, false));
  block.register_module("bn1", make.batch_norm(out));
  block.register_module("conv2", make.convolution(out, out, 3, 1, 1, false));
  block.register_module("bn2", make.batch_norm(out));
  std::string around = "x";
  if (in != out) {
    block.register_module("shortcut", make.convolution(in, out, 1, stride, 0, false));
    block.register_module("shortcut_bn", make.batch_norm(out));
    around = "self.shortcut_bn.forward(self.shortcut.forward(x))";
  }
  block.define(fmt::format(R"(
def forward(self, x):
    y = torch.relu(self.bn1.forward(self.conv1.forward(x)))
    y = self.bn2.forward(self.conv2.forward(y))
    return torch.relu(y + {})
)",
                           around));
  return block;
}

// ResNet-18 as it is used on CIFAR: no pooling before the blocks.
Module resnet18(const SampleFormat& format, Builder make) {
  require_images("resnet18", format, 8);
  Module net = Builder::module("ResNet18");
  net.register_module("conv1", make.convolution(format.input[0], 64, 3, 1, 1, false));
  net.register_module("bn1", make.batch_norm(64));
  std::string blocks;
  std::int64_t channels = 64;
  for (const std::int64_t width : {64, 128, 256, 512})
    for (int k = 0; k < 2; ++k) {
      const std::string name = fmt::format("block{}_{}", width, k);
      net.register_module(name, residual_block(make, channels, width, channels == width ? 1 : 2));
      blocks += fmt::format("    x = self.{}.forward(x)\n", name);
      channels = width;
    }
  net.register_module("fc", make.linear(512, outputs(format)));
  net.define(fmt::format(R"(
def forward(self, x):
    x = torch.relu(self.bn1.forward(self.conv1.forward(x)))
{}    return self.fc.forward(torch.mean(x, [2, 3]))
)",
                         blocks));
  return net;
}

// Attention over the characters so far, then a small network for each character.
Module transformer_block(Builder& make, std::int64_t width, std::int64_t heads) {
  const std::int64_t head = width / heads;
  Module block = Builder::module("TransformerBlock");
  block.register_module("norm1", make.layer_norm(width));
  block.register_module("attend", make.linear(width, 3 * width));
  block.register_module("project", make.linear(width, width));
  block.register_module("norm2", make.layer_norm(width));
  block.register_module("widen", make.linear(width, 4 * width));
  block.register_module("narrow", make.linear(4 * width, width));
  block.define(fmt::format(
      R"(
def forward(self, x, mask):
    n = x.size(0)
    t = x.size(1)
    qkv = self.attend.forward(self.norm1.forward(x)).reshape([n, t, 3, {heads}, {head}])
    qkv = qkv.permute([2, 0, 3, 1, 4])
    scores = torch.matmul(qkv[0], qkv[1].transpose(-2, -1)) * {scale} + mask
    y = torch.matmul(torch.softmax(scores, -1), qkv[2]).transpose(1, 2).reshape([n, t, {width}])
    x = x + self.project.forward(y)
    y = torch.gelu(self.widen.forward(self.norm2.forward(x)))
    return x + self.narrow.forward(y)
)",
      fmt::arg("heads", heads), fmt::arg("head", head), fmt::arg("width", width),
      fmt::arg("scale", 1 / std::sqrt(static_cast<double>(head)))));
  return block;
}

// Two blocks of width 64 with four heads: about 116,000 parameters for the characters of English.
Module char_transformer(const SampleFormat& format, Builder make) {
  if (!format.tokens)
    throw InputError("`model` char-transformer needs a text; give `data` FILE.txt");
  constexpr std::int64_t width = 64, heads = 4;
  const std::int64_t window = format.input[0];
  Module net = Builder::module("CharTransformer");
  net.register_module("characters", make.embedding(outputs(format), width));
  net.register_module("positions", make.embedding(window, width));
  net.register_module("block1", transformer_block(make, width, heads));
  net.register_module("block2", transformer_block(make, width, heads));
  net.register_module("norm", make.layer_norm(width));
  net.register_module("head", make.linear(width, outputs(format)));
  // No character sees those after it.
  net.register_buffer("mask", torch::full({window, window}, -1e9).triu(1));
  net.register_buffer("places", torch::arange(window, torch::kLong));
  net.define(R"(
def forward(self, x):
    x = self.characters.forward(x) + self.positions.forward(self.places)
    x = self.block1.forward(x, self.mask)
    x = self.block2.forward(x, self.mask)
    return self.head.forward(self.norm.forward(x))
)");
  return net;
}

}  // namespace

Module build_model(const std::string& name, const SampleFormat& format, std::uint64_t seed,
                   const GptShape& gpt) {
  if (name == "cnn") return cnn(format, Builder(seed));
  if (name == "mlp") return mlp(format, Builder(seed));
  if (name == "resnet18") return resnet18(format, Builder(seed));
  if (name == "gpt") return build_gpt(gpt, format, seed);
  return char_transformer(format, Builder(seed));
}

}  // namespace dasgd::torch_adapter
