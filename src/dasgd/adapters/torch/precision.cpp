#include "dasgd/adapters/torch/precision.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace dasgd::torch_adapter {
namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
void lower(at::DeviceType type, bool on) {
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, on);
}
#else
void lower(at::DeviceType type, bool on) {
  if (type == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  }
}
#endif

}  // namespace

void settle_gpu_precision(NetworkPrecision precision) {
  auto& context = at::globalContext();
  context.setAllowTF32CuBLAS(precision != NetworkPrecision::fp32);
  context.setAllowTF32CuDNN(precision != NetworkPrecision::fp32);
  context.setBenchmarkCuDNN(true);
}

PrecisionScope::PrecisionScope(NetworkPrecision precision, at::Device device)
    : lowered_(precision == NetworkPrecision::bf16), type_(device.type()) {
  if (!lowered_) return;
  at::autocast::set_autocast_cache_enabled(false);  // every weight is used once in a pass
  lower(type_, true);
}

PrecisionScope::~PrecisionScope() {
  if (lowered_) lower(type_, false);
}

}  // namespace dasgd::torch_adapter
