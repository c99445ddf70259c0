#include "dasgd/adapters/torch/device/step_graph.hpp"

#ifdef DASGD_CUDA_KERNELS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#endif
#include <mutex>
#include <stdexcept>

namespace dasgd::torch_adapter {
namespace {

std::shared_mutex recording;  // exclusive for recording, shared for other computation

}  // namespace

std::shared_lock<std::shared_mutex> StepGraph::nobody_records(at::Device device) {
  return device.is_cpu() ? std::shared_lock<std::shared_mutex>() : std::shared_lock(recording);
}

#ifdef DASGD_CUDA_KERNELS

struct StepGraph::Recorded {
  at::cuda::CUDAGraph graph;
};

std::string StepGraph::obstacle(at::Device device) {
  return device.is_cuda() ? "" : "the device is not a GPU";
}

StepGraph::StepGraph(const c10::Stream&, const std::function<void()>& work)
    : recorded_(std::make_unique<Recorded>()) {
  // One at a time; what other threads do meanwhile in streams of their own is not recorded.
  const std::lock_guard lock(recording);
  at::cuda::CUDAGraph& graph = recorded_->graph;
  graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      graph.capture_end();
    } catch (...) {  // it was recording something that cannot be: the first error says what
    }
    (void)cudaGetLastError();
    throw;
  }
  graph.capture_end();
}

void StepGraph::replay() { recorded_->graph.replay(); }

#else

struct StepGraph::Recorded {};

std::string StepGraph::obstacle(at::Device) {
  return "dasgd was built with a LibTorch without CUDA, or without nvcc";
}
StepGraph::StepGraph(const c10::Stream&, const std::function<void()>&) {
  throw std::logic_error("this build has no CUDA graphs");
}
void StepGraph::replay() {}

#endif

StepGraph::~StepGraph() = default;

}  // namespace dasgd::torch_adapter
