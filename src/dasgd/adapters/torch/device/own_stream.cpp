#include "dasgd/adapters/torch/device/own_stream.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#ifdef DASGD_CUDA_KERNELS
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <map>
#include <mutex>
#include <vector>
#endif

namespace dasgd::torch_adapter {
namespace {

#ifdef DASGD_CUDA_KERNELS

/// Those that are not used now. None is ever given up: LibTorch keeps memory for each.
struct IdleStreams {
  std::mutex mutex;
  std::map<c10::DeviceIndex, std::vector<c10::Stream>> of_device;
};

IdleStreams& idle_streams() {
  static auto* const all = new IdleStreams;  // others may end later than the program
  return *all;
}

c10::Stream new_stream(at::Device device) {
  const c10::cuda::CUDAGuard guard(device);
  cudaStream_t stream = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return c10::cuda::getStreamFromExternal(stream, device.index()).unwrap();
}

c10::Stream take_stream(at::Device device) {
  IdleStreams& idle = idle_streams();
  const std::lock_guard lock(idle.mutex);
  auto& ours = idle.of_device[device.index()];
  if (ours.empty()) {
    ours.reserve(ours.capacity() + 1);  // who gives it back may have no memory left
    return new_stream(device);
  }
  const c10::Stream stream = ours.back();
  ours.pop_back();
  return stream;
}

void give_stream_back(const c10::Stream* stream) {
  IdleStreams& idle = idle_streams();
  const std::lock_guard lock(idle.mutex);
  idle.of_device[stream->device_index()].push_back(*stream);
  delete stream;
}

#else

// Without graphs it does no harm that somebody has it too.
c10::Stream take_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}
void give_stream_back(const c10::Stream* stream) { delete stream; }

#endif

}  // namespace

StreamPtr stream_of_its_own(at::Device device) {
  if (device.is_cpu()) return nullptr;
  return {new c10::Stream(take_stream(device)), give_stream_back};
}

}  // namespace dasgd::torch_adapter
