// A small network with batch normalisation, as a TorchScript file.
#pragma once

#include <string>
#include <torch/script.h>

#include "support/temporary_directory.hpp"

namespace dasgd::test {

/// For colour images of ten classes. Its statistics move half the way with every batch, and it
/// counts the batches, as those of PyTorch do.
inline std::string write_normalised_network(const TemporaryDirectory& directory) {
  torch::jit::Module module("test.Normalised");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("weight", torch::zeros({10, 3}).set_requires_grad(true), false);
  module.register_buffer("mean", torch::zeros({3}));
  module.register_buffer("variance", torch::ones({3}));
  module.register_buffer("num_batches_tracked", torch::zeros({}, at::kLong));
  module.define(R"(
def forward(self, x):
    if self.training:
        self.num_batches_tracked.add_(1)
    x = torch.batch_norm(x, None, None, self.mean, self.variance, self.training, 0.5, 1e-05, True)
    return torch.linear(torch.mean(x, [2, 3]), self.weight)
)");
  module.save(directory.file("normalised.pt"));
  return directory.file("normalised.pt");
}

}  // namespace dasgd::test
