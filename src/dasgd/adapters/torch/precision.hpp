// In which precision networks are computed on a GPU; updates and sums are integers in any.
#pragma once

#include <ATen/Tensor.h>

#include "dasgd/adapters/torch/network.hpp"

namespace dasgd::torch_adapter {

/// LibTorch's settings for the whole process: whether float32 products may be rounded to TF32, and
/// that it looks for the fastest convolutions.
void settle_gpu_precision(NetworkPrecision precision);

/// Until it goes, this thread's forward passes are in that precision: with bf16, LibTorch's
/// autocast computes products in bfloat16 and keeps parameters and sums in float32.
class PrecisionScope {
 public:
  PrecisionScope(NetworkPrecision precision, at::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  const bool lowered_;
  const at::DeviceType type_;
};

}  // namespace dasgd::torch_adapter
