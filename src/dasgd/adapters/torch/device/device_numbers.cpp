#include "dasgd/adapters/torch/device/device_numbers.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cstring>

namespace dasgd::torch_adapter {

DeviceNumbers::DeviceNumbers(std::int64_t dimension, at::Device device) {
  const auto options = at::TensorOptions().device(device).dtype(at::kInt);
  update_ = {at::empty({dimension}, options), at::empty({1}, options)};
}

void DeviceNumbers::write(const DeviceUpdate& from, const std::optional<c10::Stream>& stream) {
  update_.numbers.copy_(from.numbers, /*non_blocking=*/true);
  update_.shift.copy_(from.shift, /*non_blocking=*/true);
  written_.mark(stream);
}

int DeviceNumbers::fetch(std::span<std::byte> to) const {
  const at::Device device = update_.numbers.device();
  if (!device.is_cpu())
    written_.hold_back(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  const at::Tensor here = copy_of(update_.numbers);
  std::memcpy(to.data(), here.data_ptr(), to.size());
  return update_.shift.item<int>();
}

}  // namespace dasgd::torch_adapter
