#include "dasgd/adapters/torch/device/layout.hpp"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <c10/util/accumulate.h>

namespace dasgd::torch_adapter {
namespace {

// A weight of a convolution whose order depends on it.
bool is_permuted(const at::Tensor& parameter) {
  return parameter.dim() == 4 && parameter.size(1) > 1 && parameter.size(2) * parameter.size(3) > 1;
}

}  // namespace

TensorLayout::TensorLayout(const std::vector<at::Tensor>& parameters, bool channels_last) {
  std::int64_t first = 0;
  for (const at::Tensor& parameter : parameters) {
    parts_.push_back({first, parameter.sizes().vec(), channels_last && is_permuted(parameter)});
    any_permuted_ |= parts_.back().permuted;
    first += parameter.numel();
  }
}

at::Tensor TensorLayout::Part::in_order(const at::Tensor& flat) const {
  const std::int64_t count = c10::multiply_integers(sizes);
  return flat.narrow(0, first, count).view(sizes);
}

at::Tensor TensorLayout::Part::there(const at::Tensor& flat) const {
  const at::Tensor numbers = in_order(flat);
  if (!permuted) return numbers;
  return numbers.view({sizes[0], sizes[2], sizes[3], sizes[1]}).permute({0, 3, 1, 2});
}

std::vector<at::Tensor> TensorLayout::views(const at::Tensor& flat) const {
  std::vector<at::Tensor> all;
  for (const Part& part : parts_) all.push_back(part.there(flat));
  return all;
}

at::Tensor TensorLayout::flat(std::size_t k, const at::Tensor& tensor) const {
  return (parts_[k].permuted ? tensor.permute({0, 2, 3, 1}) : tensor).reshape({-1});
}

std::string TensorLayout::text() const {
  std::string permuted;
  for (const Part& part : parts_)
    if (part.permuted) permuted += c10::str(part.first, " ", at::IntArrayRef(part.sizes), "; ");
  return permuted;
}

at::Tensor TensorLayout::there(const at::Tensor& in_order) const {
  if (!any_permuted_) return in_order;
  const at::Tensor result = at::empty_like(in_order);
  for (const Part& part : parts_) part.there(result).copy_(part.in_order(in_order));
  return result;
}

at::Tensor TensorLayout::in_order(const at::Tensor& there) const {
  if (!any_permuted_) return there;
  const at::Tensor result = at::empty_like(there);
  for (const Part& part : parts_) part.in_order(result).copy_(part.there(there));
  return result;
}

}  // namespace dasgd::torch_adapter
