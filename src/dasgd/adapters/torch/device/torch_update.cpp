#include "dasgd/adapters/torch/device/torch_update.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cstring>
#include <utility>
#include <vector>

#include "dasgd/adapters/torch/plain_errors.hpp"

namespace dasgd::torch_adapter {

TorchUpdate::TorchUpdate(std::int64_t dimension, at::Device device, TensorLayout layout)
    : layout_(std::move(layout)),
      all_(at::empty({dimension + 1}, at::TensorOptions().device(device).dtype(at::kInt))),
      update_{all_.narrow(0, 0, dimension), all_.narrow(0, dimension, 1)} {}

std::shared_ptr<TorchUpdate> TorchUpdate::room(std::int64_t dimension, at::Device device,
                                               const TensorLayout& layout) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  try {
    auto there = std::make_shared<TorchUpdate>(dimension, device, layout);
    there->wait_for_earlier_use();
    return there;
  } catch (const std::exception& error) {
    if (device.is_cpu() || !is_out_of_memory(error)) throw;
    return std::make_shared<TorchUpdate>(dimension, at::kCPU, layout);
  }
}

// LibTorch hands memory out while its stream may still work there, which is unknown to the thread
// that writes beside that stream.
void TorchUpdate::wait_for_earlier_use() const {
  const at::Device device = all_.device();
  if (device.is_cpu()) return;
  DeviceMoment now;
  now.mark(
      std::make_shared<c10::Stream>(c10::impl::VirtualGuardImpl(device.type()).getStream(device)));
  now.wait();
}

// LibTorch copies in the stream of the device from which it copies.
void TorchUpdate::hold_back_copies() const {
  const at::Device device = update_.numbers.device();
  if (!device.is_cpu())
    written_.hold_back(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

UpdateTensors TorchUpdate::on(at::Device device, const StreamPtr& stream) const {
  if (update_.numbers.device() == device) {
    if (stream) written_.hold_back(*stream);
    return update_;
  }
  hold_back_copies();
  return {update_.numbers.to(device), update_.shift.to(device)};
}

bool TorchUpdate::ready() const {
  return with_plain_errors([&] { return written_.passed(); });
}

int TorchUpdate::fetch(std::span<std::byte> to) const {
  return with_plain_errors([&] {
    hold_back_copies();
    const at::Tensor here = copy_of(layout_.in_order(update_.numbers));
    std::memcpy(to.data(), here.data_ptr(), to.size());
    return update_.shift.item<int>();
  });
}

std::span<std::byte> TorchUpdate::memory() {
  return {static_cast<std::byte*>(all_.data_ptr()), all_.nbytes()};
}

std::shared_ptr<DeviceSums> TorchUpdate::zero_sums() const {
  return TorchSums::make(update_.numbers.numel(), update_.numbers.device(), layout_);
}

std::shared_ptr<TorchSums> TorchSums::make(std::int64_t dimension, at::Device device,
                                           const TensorLayout& layout) {
  try {
    return std::shared_ptr<TorchSums>(new TorchSums(dimension, device, layout));
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) return nullptr;
    throw;
  }
}

TorchSums::TorchSums(std::int64_t dimension, at::Device device, const TensorLayout& layout)
    : layout_(layout), stream_(stream_of_its_own(device)) {
  complete(
      [&] { sums_ = at::zeros({dimension}, at::TensorOptions().device(device).dtype(at::kLong)); });
}

// What it reads may be written again when this returns.
template <typename Work>
void TorchSums::complete(Work&& work) {
  c10::OptionalStreamGuard guard;
  if (stream_) guard.reset_stream(*stream_);
  work();
  DeviceMoment done;
  done.mark(stream_);
  done.wait();
}

bool TorchSums::add(std::span<const GradientPtr> gradients) {
  std::vector<const TorchUpdate*> numbers;
  for (const GradientPtr& gradient : gradients) {
    numbers.push_back(dynamic_cast<const TorchUpdate*>(gradient->update.on_device().get()));
    if (!numbers.back()) return false;
  }
  with_plain_errors([&] {
    complete([&] {
      std::vector<UpdateTensors> updates;
      for (const TorchUpdate* one : numbers) updates.push_back(one->on(sums_.device(), stream_));
      integers_on(sums_.device()).add(updates, sums_);
    });
  });
  return true;
}

bool TorchSums::add(const DeviceSums& other) {
  const auto* const there = dynamic_cast<const TorchSums*>(&other);
  if (!there) return false;
  with_plain_errors([&] { complete([&] { sums_.add_(there->sums_.to(sums_.device())); }); });
  return true;
}

std::shared_ptr<DeviceSums> TorchSums::zero_sums() const {
  return make(sums_.numel(), sums_.device(), layout_);
}

void TorchSums::fetch(std::span<std::byte> to) const {
  with_plain_errors([&] {
    const at::Tensor here = copy_of(layout_.in_order(sums_));
    std::memcpy(to.data(), here.data_ptr(), to.size());
  });
}

}  // namespace dasgd::torch_adapter
