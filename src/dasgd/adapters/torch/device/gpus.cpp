#include "dasgd/adapters/torch/device/gpus.hpp"

#include <ATen/ATen.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "dasgd/adapters/torch/plain_errors.hpp"

namespace dasgd::torch_adapter {

std::size_t gpus_that_work() {
#if TORCH_VERSION_MAJOR >= 2
  // LibTorch warns on standard error of what why_no_gpu says as well.
  struct Silence final : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  } silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
#endif
  return torch::cuda::is_available() ? torch::cuda::device_count() : 0;
}

std::string why_no_gpu() {
#ifndef DASGD_CUDA_KERNELS
  return "";  // nobody there to ask
#endif
  try {
    at::empty({1}, at::TensorOptions().device(at::kCUDA));
    return "";
  } catch (const std::exception& error) {
    const std::string all = one_line(error);
    return " (" + all.substr(0, all.find(". Please")) + ")";
  }
}

}  // namespace dasgd::torch_adapter
