#include "dasgd/adapters/torch/gpt.hpp"

#include <algorithm>
#include <torch/version.h>
#include <utility>

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

/// The forward pass of a network whose parameters are all its own: LibTorch looks through the
/// submodules of a method again and again while it compiles it, and with 12 blocks of them needs
/// more memory than there is.
class GptText {
 public:
  GptText(Module& net, Builder& make) : net_(net), make_(make) {}

  std::string linear(const std::string& name, const std::string& x, std::int64_t in,
                     std::int64_t out, double deviation) {
    parameters(name, make_.normal({out, in}, deviation), torch::zeros({out}));
    return fmt::format("torch.linear({}, self.{n}_weight, self.{n}_bias)", x, fmt::arg("n", name));
  }
  std::string norm(const std::string& name, const std::string& x, std::int64_t width) {
    parameters(name, torch::ones({width}), torch::zeros({width}));
    return fmt::format("torch.layer_norm({}, [{}], self.{n}_weight, self.{n}_bias, 1e-05)", x,
                       width, fmt::arg("n", name));
  }
  std::string block(const std::string& name, const GptShape& shape);

 private:
  void parameters(const std::string& name, torch::Tensor weight, torch::Tensor bias) {
    Builder::parameter(net_, name + "_weight", std::move(weight));
    Builder::parameter(net_, name + "_bias", std::move(bias));
  }

  Module& net_;
  Builder& make_;
};

std::string GptText::block(const std::string& name, const GptShape& shape) {
  const auto width = static_cast<std::int64_t>(shape.width);
  const double first = 0.02, last = 0.02 / std::sqrt(2.0 * static_cast<double>(shape.depth));
  const std::string code = std::string(R"(
    qkv = {attend}.reshape([n, t, 3, {heads}, {head}])
    qkv = qkv.permute([2, 0, 3, 1, 4])
)") + attention + R"(    y = y.transpose(1, 2).reshape([n, t, {width}])
    x = x + {project}
    y = torch.gelu({widen}, approximate="tanh")
    x = x + {narrow}
)";
  const std::string norm1 = norm(name + "norm1", "x", width);
  const std::string attend = linear(name + "attend", norm1, width, 3 * width, first);
  const std::string project = linear(name + "project", "y", width, width, last);
  const std::string norm2 = norm(name + "norm2", "x", width);
  const std::string widen = linear(name + "widen", norm2, width, 4 * width, first);
  const std::string narrow = linear(name + "narrow", "y", 4 * width, width, last);
  const std::size_t head = shape.width / shape.heads;
  return fmt::format(fmt::runtime(code), fmt::arg("attend", attend), fmt::arg("project", project),
                     fmt::arg("widen", widen), fmt::arg("narrow", narrow),
                     fmt::arg("heads", shape.heads), fmt::arg("head", head),
                     fmt::arg("width", width),
                     fmt::arg("scale", 1 / std::sqrt(static_cast<double>(head))));
}

}  // namespace

Module build_gpt(GptShape shape, const SampleFormat& format, std::uint64_t seed) {
  if (!format.tokens) throw InputError("`model` gpt needs a text; give `data` FILE.txt");
  if (shape.width == 0) shape = {768, 12, 12, 50257};
  if (shape.depth == 0 || shape.heads == 0 || shape.width % shape.heads != 0)
    throw InputError("`gpt`: the width must be a multiple of the number of heads");
  Builder make(seed);
  const auto width = static_cast<std::int64_t>(shape.width);
  const std::int64_t context = format.input[0];
  const auto tokens = static_cast<std::int64_t>(std::max(shape.tokens, format.classes));
  Module net = Builder::module("Gpt");
  GptText text(net, make);
  Builder::parameter(net, "tokens", make.normal({tokens, width}, 0.02));
  Builder::parameter(net, "positions", make.normal({context, width}, 0.02));
  net.register_buffer("places", torch::arange(context, torch::kLong));
  std::string code =
      "def forward(self, x):\n"
      "    n = x.size(0)\n"
      "    t = x.size(1)\n"
      "    x = torch.embedding(self.tokens, x) + torch.embedding(self.positions, self.places)\n";
  for (std::size_t k = 0; k < shape.depth; ++k)
    code += text.block(fmt::format("block{}_", k), shape);
  net.define(code + "    return torch.linear(" + text.norm("norm", "x", width) +
             ", self.tokens)\n");
  return net;
}

}  // namespace dasgd::torch_adapter
