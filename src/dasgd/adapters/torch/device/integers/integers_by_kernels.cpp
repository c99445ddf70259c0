#include <algorithm>
#include <c10/cuda/CUDAStream.h>
#include <stdexcept>
#include <string>

#include "dasgd/adapters/torch/device/integers/integer_kernels.hpp"
#include "dasgd/adapters/torch/device/integers/integers.hpp"

namespace dasgd::torch_adapter {
namespace {

void* stream_here() { return c10::cuda::getCurrentCUDAStream().stream(); }

void expect_success(int error) {
  if (error != 0) throw std::runtime_error("CUDA error " + std::to_string(error) + " in a kernel");
}

std::size_t size_of(const at::Tensor& tensor) { return static_cast<std::size_t>(tensor.numel()); }

kernels::Notes pointers(const StepNotes& notes) {
  return {notes.diverged.data_ptr<double>(), notes.out_of_range.data_ptr<double>(),
          notes.largest.data_ptr<double>(),
          reinterpret_cast<unsigned*>(notes.scratch.data_ptr<double>())};
}

class ByKernels final : public Integers {
 public:
  void show(const at::Tensor& sums, const at::Tensor& x, const StepNotes& notes) const override {
    expect_success(kernels::show(sums.data_ptr<std::int64_t>(), x.data_ptr<float>(), size_of(x),
                                 pointers(notes), stream_here()));
  }

  void measure(const at::Tensor& gradient, const StepNotes& notes) const override {
    expect_success(kernels::measure(gradient.data_ptr<float>(), size_of(gradient), pointers(notes),
                                    stream_here()));
  }

  void round_and_add(const at::Tensor& gradient, const at::Tensor& factor,
                     const UpdateTensors& update, const at::Tensor& sums, const at::Tensor& x,
                     const StepNotes& notes) const override {
    expect_success(kernels::round_and_add(
        gradient.data_ptr<float>(), factor.data_ptr<double>(), update.numbers.data_ptr<int>(),
        update.shift.data_ptr<int>(), sums.data_ptr<std::int64_t>(), x.data_ptr<float>(),
        size_of(sums), pointers(notes), stream_here()));
  }

  void add(std::span<const UpdateTensors> updates, const at::Tensor& sums) const override {
    while (!updates.empty()) {
      const std::size_t count = std::min<std::size_t>(updates.size(), kernels::most_addends);
      kernels::Addends addends{};
      addends.count = static_cast<int>(count);
      for (std::size_t k = 0; k < count; ++k) {
        addends.numbers[k] = updates[k].numbers.data_ptr<int>();
        addends.shifts[k] = updates[k].shift.data_ptr<int>();
      }
      expect_success(
          kernels::add(addends, sums.data_ptr<std::int64_t>(), size_of(sums), stream_here()));
      updates = updates.subspan(count);
    }
  }
};

}  // namespace

const Integers* integers_by_kernels() {
  static const ByKernels one;
  return &one;
}

}  // namespace dasgd::torch_adapter
