// Networks in files: TorchScript that takes raw data.
#pragma once

#include <string>
#include <torch/script.h>

#include "dasgd/data/preprocessing.hpp"

namespace dasgd::torch_adapter {

/// Whether a run has left this network: then it has what is done to raw data inside.
bool takes_raw_data(const torch::jit::Module& module);
/// What it does. Throws InputError where that is not what a run writes.
Preprocessing preprocessing_of(const torch::jit::Module& module, const std::string& path);

/// The network between what is done to inputs (`mean`, `factor`, `fill`) and what gives its answers
/// the units of the data (`target_mean`, `target_deviation`), each where there is any, with
/// `classes` and `preprocessing` for whoever opens the file.
torch::jit::Module with_preprocessing(const torch::jit::Module& network,
                                      const Preprocessing& preprocessing);

/// The bytes of its file. Throws what LibTorch throws.
std::string to_bytes(const torch::jit::Module& module);

/// From the bytes of a file. Throws InputError naming `path` for what is not TorchScript; for a
/// file of torch.save it says what to write instead.
torch::jit::Module load_script(const std::string& bytes, const std::string& path,
                               at::Device device);

/// The bytes of a file. Throws InputError where it cannot be read, or does not have the checksums
/// of its archive. A file whose archive has none is taken as it is.
std::string read_script_file(const std::string& path);

}  // namespace dasgd::torch_adapter
