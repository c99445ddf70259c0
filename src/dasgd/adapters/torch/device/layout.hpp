// The order in which a network's numbers stand in the memory of a device.
#pragma once

#include <ATen/Tensor.h>
#include <cstdint>
#include <string>
#include <vector>

namespace dasgd::torch_adapter {

/// In x, files and messages numbers have the order of the parameters, each row by row. Where images
/// have their channels innermost, convolutions want their weights so too: on the device they stand
/// that way, together with their gradients, sums and updates, and are permuted when they come
/// from this machine's memory or go there. By default nothing is permuted.
class TensorLayout {
 public:
  TensorLayout() = default;
  TensorLayout(const std::vector<at::Tensor>& parameters, bool channels_last);

  /// The parameters as parts of `flat`, which is in this layout.
  std::vector<at::Tensor> views(const at::Tensor& flat) const;
  /// The numbers of one tensor for parameter k in this layout.
  at::Tensor flat(std::size_t k, const at::Tensor& tensor) const;

  /// The same text: numbers stand in the same order.
  std::string text() const;

  /// What is in the order of x, in this layout; the same tensor where nothing is permuted.
  at::Tensor there(const at::Tensor& in_order) const;
  /// The other way round.
  at::Tensor in_order(const at::Tensor& there) const;

 private:
  struct Part {
    std::int64_t first;
    std::vector<std::int64_t> sizes;
    bool permuted;

    at::Tensor in_order(const at::Tensor& flat) const;
    at::Tensor there(const at::Tensor& flat) const;
  };

  std::vector<Part> parts_;
  bool any_permuted_ = false;
};

}  // namespace dasgd::torch_adapter
