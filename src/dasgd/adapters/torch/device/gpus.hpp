// The GPUs of this machine, as LibTorch sees them.
#pragma once

#include <cstddef>
#include <string>

namespace dasgd::torch_adapter {

std::size_t gpus_that_work();

/// What the driver has to say where there is none, in brackets: none, too old, ... Or nothing.
std::string why_no_gpu();

}  // namespace dasgd::torch_adapter
