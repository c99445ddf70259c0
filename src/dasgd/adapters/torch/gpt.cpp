#include "dasgd/adapters/torch/gpt.hpp"

#include <algorithm>
#include <torch/version.h>

#include "dasgd/adapters/torch/builder.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::torch_adapter {
namespace {

// LibTorch 2 has attention in one piece, which never writes the scores of all pairs to memory.
#if TORCH_VERSION_MAJOR >= 2
constexpr const char* attention =
    "    y = torch.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], None, 0.0, True)\n";
#else
constexpr const char* attention =
    "    scores = torch.matmul(qkv[0], qkv[1].transpose(-2, -1)) * {scale}\n"
    "    past = torch.tril(torch.ones_like(scores))\n"
    "    scores = torch.masked_fill(scores, torch.eq(past, 0), -1e9)\n"
    "    y = torch.matmul(torch.softmax(scores, -1), qkv[2])\n";
#endif

Module gpt_linear(Builder& make, std::int64_t in, std::int64_t out, double deviation) {
  Module made = Builder::module("Linear");
  Builder::parameter(made, "weight", make.normal({out, in}, deviation));
  Builder::parameter(made, "bias", torch::zeros({out}));
  made.define("def forward(self, x):\n    return torch.linear(x, self.weight, self.bias)\n");
  return made;
}

Module gpt_block(Builder& make, const GptShape& shape) {
  const auto width = static_cast<std::int64_t>(shape.width);
  const double first = 0.02, last = 0.02 / std::sqrt(2.0 * static_cast<double>(shape.depth));
  Module block = Builder::module("GptBlock");
  block.register_module("norm1", make.layer_norm(width));
  block.register_module("attend", gpt_linear(make, width, 3 * width, first));
  block.register_module("project", gpt_linear(make, width, width, last));
  block.register_module("norm2", make.layer_norm(width));
  block.register_module("widen", gpt_linear(make, width, 4 * width, first));
  block.register_module("narrow", gpt_linear(make, 4 * width, width, last));
  const std::string code = std::string(R"(
def forward(self, x):
    n = x.size(0)
    t = x.size(1)
    qkv = self.attend.forward(self.norm1.forward(x)).reshape([n, t, 3, {heads}, {head}])
    qkv = qkv.permute([2, 0, 3, 1, 4])
)") + attention + R"(    y = y.transpose(1, 2).reshape([n, t, {width}])
    x = x + self.project.forward(y)
    y = torch.gelu(self.widen.forward(self.norm2.forward(x)), approximate="tanh")
    return x + self.narrow.forward(y)
)";
  const std::size_t head = shape.width / shape.heads;
  block.define(fmt::format(fmt::runtime(code), fmt::arg("heads", shape.heads),
                           fmt::arg("head", head), fmt::arg("width", width),
                           fmt::arg("scale", 1 / std::sqrt(static_cast<double>(head)))));
  return block;
}

}  // namespace

Module build_gpt(GptShape shape, const SampleFormat& format, std::uint64_t seed) {
  if (!format.tokens) throw InputError("--model gpt needs a text; give --data FILE.txt");
  if (shape.width == 0) shape = {768, 12, 12, 50257};
  if (shape.depth == 0 || shape.heads == 0 || shape.width % shape.heads != 0)
    throw InputError("--gpt: the width must be a multiple of the number of heads");
  Builder make(seed);
  const auto width = static_cast<std::int64_t>(shape.width);
  const std::int64_t context = format.input[0];
  const auto tokens = static_cast<std::int64_t>(std::max(shape.tokens, format.classes));
  Module net = Builder::module("Gpt");
  net.register_module("tokens", make.embedding(tokens, width, 0.02));
  net.register_module("positions", make.embedding(context, width, 0.02));
  std::string blocks;
  for (std::size_t k = 0; k < shape.depth; ++k) {
    net.register_module(fmt::format("block{}", k), gpt_block(make, shape));
    blocks += fmt::format("    x = self.block{}.forward(x)\n", k);
  }
  net.register_module("norm", make.layer_norm(width));
  net.register_buffer("places", torch::arange(context, torch::kLong));
  net.define(
      "def forward(self, x):\n"
      "    x = self.tokens.forward(x) + self.positions.forward(self.places)\n" +
      blocks + "    return torch.linear(self.norm.forward(x), self.tokens.weight)\n");
  return net;
}

}  // namespace dasgd::torch_adapter
