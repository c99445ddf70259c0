#include "dasgd/adapters/torch/device/device_data.hpp"

#include <ATen/ATen.h>
#include <ATen/TensorIndexing.h>
#include <algorithm>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "dasgd/adapters/torch/plain_errors.hpp"
#include "dasgd/data/preparation/augmentation.hpp"

namespace dasgd::torch_adapter {
namespace {

constexpr std::size_t rows_per_copy = 1024;

std::int64_t border_of(const Samples& samples) {
  const Augmentation* const how = samples.augmentation();
  return how ? static_cast<std::int64_t>(how->crop) : 0;
}

std::vector<std::int64_t> shape_of_inputs(const Samples& samples) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(samples.count(Part::train))};
  const auto& input = samples.format().input;
  shape.insert(shape.end(), input.begin(), input.end());
  if (const std::int64_t border = border_of(samples); border > 0)
    for (const std::size_t side : {2, 3}) shape[side] += 2 * border;
  return shape;
}

std::size_t bytes_of(const Samples& samples) {
  std::size_t bytes = samples.format().tokens ? sizeof(std::int64_t) : sizeof(float);
  for (const std::int64_t size : shape_of_inputs(samples)) bytes *= static_cast<std::size_t>(size);
  return bytes + samples.count(Part::train) * samples.format().targets * sizeof(std::int64_t);
}

template <typename Element>
at::Tensor view_of(const std::vector<Element>& numbers, at::IntArrayRef shape) {
  return at::from_blob(const_cast<Element*>(numbers.data()), shape,
                       c10::CppTypeToScalarType<Element>::value);
}

// Black, as the network sees it.
at::Tensor border_colour(const Samples& samples) {
  const auto& shape = samples.format().input;
  std::vector<float> black(samples.preprocessing()->width(), 0.0f);
  samples.preprocessing()->apply(black);
  return view_of(black, shape).select(2, 0).select(1, 0).clone();
}

}  // namespace

std::shared_ptr<const DeviceData> DeviceData::load(const Samples& samples, at::Device device,
                                                   std::size_t most_bytes) {
  if (bytes_of(samples) > most_bytes) return nullptr;
  try {
    return std::shared_ptr<const DeviceData>(new DeviceData(samples, device));
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) return nullptr;
    throw;
  }
}

DeviceData::DeviceData(const Samples& samples, at::Device device) : samples_(samples) {
  const SampleFormat& format = samples.format();
  const auto count = static_cast<std::int64_t>(samples.count(Part::train));
  const auto targets = static_cast<std::int64_t>(format.targets);
  const auto options = at::TensorOptions().device(device);
  const auto integers = options.dtype(at::kLong), reals = options.dtype(at::kFloat);
  inputs_ = at::empty(shape_of_inputs(samples), format.tokens ? integers : reals);
  targets_ = at::empty({count, targets}, format.classes > 0 ? integers : reals);
  at::Tensor inner = inputs_;
  if (samples.augmentation()) {
    const std::int64_t border = border_of(samples), height = format.input[1],
                       width = format.input[2];
    inputs_.copy_(border_colour(samples).reshape({1, -1, 1, 1}).to(device));
    inner = inputs_.narrow(2, border, height).narrow(3, border, width);
    channels_ = at::arange(format.input[0], integers).reshape({1, -1, 1, 1});
    lines_ = at::arange(height, integers).reshape({1, 1, -1, 1});
    columns_ = at::arange(width, integers).reshape({1, 1, 1, -1});
  }
  SampleBatch batch;
  for (std::int64_t first = 0; first < count; first += rows_per_copy) {
    std::vector<std::uint32_t> rows(
        std::min<std::size_t>(rows_per_copy, static_cast<std::size_t>(count - first)));
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k] = static_cast<std::uint32_t>(static_cast<std::size_t>(first) + k);
    samples.gather(Part::train, rows, nullptr, batch);
    const auto size = static_cast<std::int64_t>(rows.size());
    std::vector<std::int64_t> shape{size};
    shape.insert(shape.end(), format.input.begin(), format.input.end());
    const auto put = [&](const at::Tensor& to, const at::Tensor& piece) {
      to.narrow(0, first, size).copy_(piece);
    };
    put(inner, format.tokens ? view_of(batch.tokens, shape) : view_of(batch.inputs, shape));
    put(targets_, format.classes > 0 ? view_of(batch.labels, {size, targets})
                                     : view_of(batch.values, {size, targets}));
    if (batch.weights.empty()) continue;
    if (!weights_.defined()) weights_ = at::empty({count, targets}, reals);
    put(weights_, view_of(batch.weights, {size, targets}));
  }
  // Workers read it in streams of their own.
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

void DeviceData::ask(Samples::Rows rows, Random& chance, std::int64_t* request) const {
  const Augmentation* const how = samples_.augmentation();
  for (const std::uint32_t row : rows) {
    const ImageChange change = how ? draw_change(*how, chance) : ImageChange{};
    *request++ = row;
    *request++ = change.mirror ? 1 : 0;
    *request++ = change.down + border_of(samples_);
    *request++ = change.right + border_of(samples_);
  }
}

at::Tensor DeviceData::changed_images(const at::Tensor& request) const {
  const auto word = [&](std::int64_t k) { return request.select(1, k).reshape({-1, 1, 1, 1}); };
  const std::int64_t last = columns_.numel() - 1;
  // 0 .. last where it is not mirrored, last .. 0 where it is.
  const at::Tensor column = columns_.add(word(1).mul(columns_.mul(-2).add_(last)));
  return inputs_.index({word(0), channels_, lines_.add(word(2)), column.add(word(3))});
}

Instance::Inputs DeviceData::gather(const at::Tensor& request) const {
  const at::Tensor rows = request.select(1, 0).contiguous();
  Instance::Inputs in;
  in.input = samples_.augmentation() ? changed_images(request) : inputs_.index_select(0, rows);
  in.target = targets_.index_select(0, rows).reshape({-1});
  if (weights_.defined()) in.weights = weights_.index_select(0, rows).reshape({-1});
  return in;
}

}  // namespace dasgd::torch_adapter
