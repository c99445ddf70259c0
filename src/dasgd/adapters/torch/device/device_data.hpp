// The training samples in the memory of a device.
#pragma once

#include <cstdint>
#include <memory>

#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/data/samples.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd::torch_adapter {

/// All of them, as `Samples::gather` gives them, so that a batch is asked for by a few integers. It
/// holds the same numbers as one that was gathered by this machine, changed by the same draws.
/// Shared by the workers of a device.
class DeviceData {
 public:
  /// Null where they take more than `most_bytes`, or than there is.
  static std::shared_ptr<const DeviceData> load(const Samples& samples, at::Device device,
                                                std::size_t most_bytes);

  /// Integers per sample of a request.
  static constexpr std::int64_t words = 4;
  /// Writes a request for these rows.
  void ask(Samples::Rows rows, Random& chance, std::int64_t* request) const;
  /// On the device: the batch of a request, (samples x words).
  Instance::Inputs gather(const at::Tensor& request) const;

 private:
  DeviceData(const Samples& samples, at::Device device);
  at::Tensor changed_images(const at::Tensor& request) const;

  const Samples& samples_;
  at::Tensor inputs_;  // images have a border as wide as they may be moved
  at::Tensor targets_, weights_;
  at::Tensor channels_, lines_, columns_;  // of an image: 0, 1, ...
};

}  // namespace dasgd::torch_adapter
