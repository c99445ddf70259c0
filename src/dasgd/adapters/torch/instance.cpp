#include "dasgd/adapters/torch/instance.hpp"

#include <algorithm>
#include <cstddef>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/version.h>

#include "dasgd/adapters/torch/blas.hpp"
#include "dasgd/adapters/torch/cpu_path.hpp"
#include "dasgd/adapters/torch/device/step_graph.hpp"
#include "dasgd/adapters/torch/precision.hpp"
#include "dasgd/adapters/torch/saved_network.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::torch_adapter {
namespace {

at::Tensor view_of(const float* memory, std::size_t size) {
  // LibTorch has no tensors of const memory; parameters are only read.
  return torch::from_blob(const_cast<float*>(memory), {static_cast<std::int64_t>(size)});
}

std::vector<float> flatten(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : tensors)
    parts.push_back(tensor.detach().reshape({-1}).to(at::kFloat));
  const at::Tensor here = at::cat(parts).to(at::kCPU);  // one copy from a device
  return {here.data_ptr<float>(), here.data_ptr<float>() + here.numel()};
}

// `cat` gives every part as many blocks of a GPU as the largest needs, which takes longer than the
// copying itself where there are many small ones.
void put_side_by_side(const std::vector<at::Tensor>& parts, at::Tensor& to) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  if (to.is_cuda()) {
    std::vector<at::Tensor> places;
    std::int64_t first = 0;
    for (const at::Tensor& part : parts) {
      places.push_back(to.narrow(0, first, part.numel()));
      first += part.numel();
    }
    at::_foreach_copy_(places, parts, /*non_blocking=*/true);
    return;
  }
#endif
  at::cat_out(to, parts);
}

bool same_layout(const at::Tensor& first, const at::Tensor& other) {
  return first.sizes() == other.sizes() && first.strides() == other.strides();
}

// Whether both name the same numbers: in one order, or transposed.
bool can_be_tied(const at::Tensor& first, const at::Tensor& other) {
  return same_layout(first, other) || (first.numel() == other.numel() && first.is_contiguous() &&
                                       other.is_non_overlapping_and_dense());
}

}  // namespace

Instance::Instance(const std::string& script, const std::string& name, const SampleFormat& format,
                   const Computing& how)
    : format_(format), how_(how) {
  memory_ = std::make_shared<DeviceMemory>();
  memory_->stream = stream_of_its_own(how.device);
  const Place place(*memory_);  // all of it, or another stream may read or reuse what is pending
  module_ = load_script(script, name, how.device);
  module_.train();
  find_parameters();
  find_buffers();
  if (parameters_.empty()) throw InputError("has no parameters that can be trained");
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.scalar_type() != at::kFloat)
      throw InputError(std::string("has a parameter of type ") + toString(parameter.scalar_type()) +
                       "; all must be float32");
    dimension_ += static_cast<std::size_t>(parameter.numel());
  }
  memory_->layout = TensorLayout(parameters_, how.own_memory && how.channels_last && tied_.empty());
  if (how.own_memory) take_memory();
}

void Instance::take_memory() {
  const auto options = at::TensorOptions().device(how_.device).dtype(at::kFloat);
  memory_->x = at::empty({static_cast<std::int64_t>(dimension_)}, options);
  gradient_ = at::zeros_like(memory_->x);
  const auto parts = memory_->layout.views(memory_->x);
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k].copy_(parameters_[k].detach());
  bind_parameters(memory_->x);
  if (!tied_.empty()) bind_gradients(gradient_);
}

at::Tensor Instance::Tied::view(const at::Tensor& first) const {
  return transposed ? first.as_strided(other.sizes(), other.strides()) : first;
}

// Weights that a network uses in several places are listed as often and trained once.
void Instance::find_parameters() {
  for (const at::Tensor& tensor : module_.parameters()) {
    if (!tensor.requires_grad()) continue;
    const auto same = std::ranges::find_if(parameters_, [&](const at::Tensor& known) {
      return known.data_ptr() == tensor.data_ptr() && tensor.numel() > 0;
    });
    if (same == parameters_.end()) {
      parameters_.push_back(tensor);
    } else if (!can_be_tied(*same, tensor)) {
      throw InputError("has parameters that share a part of their memory");
    } else if (!same->is_same(tensor)) {
      tied_.push_back({tensor, static_cast<std::size_t>(same - parameters_.begin()),
                       !same_layout(*same, tensor)});
    }
  }
}

void Instance::find_buffers() {
  std::vector<at::Tensor> counters;
  for (const auto& buffer : module_.named_buffers()) {
    if (buffer.value.scalar_type() == at::kFloat) buffers_.push_back(buffer.value);
    const bool counts = buffer.value.scalar_type() == at::kLong;
    if (counts && buffer.name.ends_with("num_batches_tracked")) counters.push_back(buffer.value);
  }
  counters_ = counters.size();
  buffers_.insert(buffers_.end(), counters.begin(), counters.end());
}

std::vector<float> Instance::parameters() const {
  const Place place(*memory_);
  return flatten(parameters_);
}

std::vector<float> Instance::buffers() const {
  const Place place(*memory_);
  return flatten(buffers_);
}

void Instance::set_buffers(std::span<const float> values) {
  const Place place(*memory_);
  const at::NoGradGuard no_grad;
  const at::Tensor flat = view_of(values.data(), values.size());
  std::int64_t at = 0;
  for (const at::Tensor& buffer : buffers_) {
    buffer.copy_(flat.narrow(0, at, buffer.numel()).view(buffer.sizes()));
    at += buffer.numel();
  }
}

void Instance::bind_parameters(const at::Tensor& x) {
  const auto parts = memory_->layout.views(x);
  for (std::size_t k = 0; k < parts.size(); ++k) parameters_[k].set_data(parts[k]);
  for (const Tied& tied : tied_)
    tied.other.set_data(tied.view(parameters_[tied.parameter].detach()));
}

void Instance::bind_gradients(const at::Tensor& gradient) {
  const auto parts = memory_->layout.views(gradient);
  for (std::size_t k = 0; k < parts.size(); ++k) parameters_[k].mutable_grad() = parts[k];
  for (const Tied& tied : tied_)
    tied.other.mutable_grad() = tied.view(parameters_[tied.parameter].grad());
}

// What backward makes becomes the gradient as it is, instead of being added to zeros.
void Instance::drop_gradients() {
  if (!tied_.empty()) {
    gradient_.zero_();
    return;
  }
  for (const at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

void Instance::gather_gradients() {
  if (!tied_.empty()) return;  // they point into the gradient
  std::vector<at::Tensor> parts;
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const at::Tensor& gradient = parameters_[k].grad();
    parts.push_back(memory_->layout.flat(
        k, gradient.defined() ? gradient : at::zeros_like(parameters_[k].detach())));
  }
  put_side_by_side(parts, gradient_);
  drop_gradients();
}

at::Tensor Instance::compute(const Inputs& in) {
  drop_gradients();
  at::Tensor loss;
  {
    const PrecisionScope precision(how_.precision, how_.device);
    loss = loss_of(forward(in.input), in);
  }
  loss.backward();
  const at::NoGradGuard no_grad;
  gather_gradients();
  return loss.detach();
}

void Instance::show(std::span<const float> x) {
  if (how_.own_memory) {
    const Place place(*memory_);
    memory_->x.copy_(memory_->layout.there(view_of(x.data(), x.size()).to(how_.device)));
  } else if (x.data() != bound_x_) {
    bind_parameters(view_of(x.data(), x.size()));
    bound_x_ = x.data();
  }
}

double Instance::gradient(const SampleBatch& batch, std::span<float> gradient) {
  const auto alone = alone_if_blas_is_serial(how_.device);
  const Place place(*memory_);
  const auto lock = StepGraph::nobody_records(how_.device);
  const Inputs in = inputs(batch);
  if (how_.own_memory) {
    const at::Tensor loss = compute(in);
    view_of(gradient.data(), gradient.size()).copy_(memory_->layout.in_order(gradient_));
    return loss.item<double>();
  }
  std::fill(gradient.begin(), gradient.end(), 0.0f);  // backward adds
  if (gradient.data() != bound_gradient_) bind_gradients(view_of(gradient.data(), gradient.size()));
  bound_gradient_ = gradient.data();
  const at::Tensor loss = loss_of(forward(in.input), in);
  loss.backward();
  return loss.item<double>();
}

double Instance::evaluate(std::span<const float> x, const SampleBatch& batch, ClassCounts& counts,
                          double* mean_square) {
  const auto alone = alone_if_blas_is_serial(how_.device);
  const Place place(*memory_);
  const auto lock = StepGraph::nobody_records(how_.device);
  const at::NoGradGuard no_grad;
  show(x);
  module_.eval();
  const Inputs in = inputs(batch);
  const PrecisionScope precision(how_.precision, how_.device);
  const at::Tensor output = forward(in.input);
  const double loss = loss_of(output, in).item<double>();
  if (mean_square && format_.classes == 0)
    *mean_square = at::mse_loss(output.reshape({-1}).to(at::kFloat), in.target).item<double>();
  if (format_.classes > 0) {
    const at::Tensor scores = output.reshape({-1, output.size(-1)});
    const at::Tensor guess = scores.argmax(1).to(at::kCPU).contiguous();
    if (counts.classes() == 0) counts = ClassCounts(static_cast<std::size_t>(scores.size(1)));
    for (std::size_t k = 0; k < batch.labels.size(); ++k)
      counts.add(static_cast<std::size_t>(batch.labels[k]),
                 static_cast<std::size_t>(guess.data_ptr<std::int64_t>()[k]));
  }
  module_.train();
  return loss;
}

Instance::Inputs Instance::views_of(const SampleBatch& batch) const {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(batch.count)};
  shape.insert(shape.end(), format_.input.begin(), format_.input.end());
  const auto tensor = [](const auto& numbers, at::IntArrayRef sizes, at::ScalarType type) {
    using Element = typename std::remove_cvref_t<decltype(numbers)>::value_type;
    return torch::from_blob(const_cast<Element*>(numbers.data()), sizes, type);
  };
  Inputs in;
  in.input = format_.tokens ? tensor(batch.tokens, shape, at::kLong)
                            : tensor(batch.inputs, shape, at::kFloat);
  const auto targets = static_cast<std::int64_t>(batch.count * format_.targets);
  in.target = format_.classes > 0 ? tensor(batch.labels, {targets}, at::kLong)
                                  : tensor(batch.values, {targets}, at::kFloat);
  if (!batch.weights.empty()) in.weights = tensor(batch.weights, {targets}, at::kFloat);
  return in;
}

Instance::Inputs Instance::inputs(const SampleBatch& batch) const {
  const Inputs in = views_of(batch);
  return {in.input.to(how_.device), in.target.to(how_.device),
          in.weights.defined() ? in.weights.to(how_.device) : in.weights};
}

at::Tensor Instance::forward(const at::Tensor& input) {
  if (how_.device.is_cpu()) compute_alone();
  // The interpreter as it is: what its optimiser specialises costs more than it brings here.
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  const bool turn = how_.channels_last && input.dim() == 4;
  return module_.forward({turn ? input.contiguous(at::MemoryFormat::ChannelsLast) : input})
      .toTensor();
}

at::Tensor Instance::loss_of(const at::Tensor& output, const Inputs& in) const {
  const auto differences = [&](const at::Tensor& found, const at::Tensor& target, auto how) {
    return how_.loss == NetworkLoss::huber ? at::huber_loss(found, target, how)
                                           : at::mse_loss(found, target, how);
  };
  if (format_.classes == 0)
    return differences(output.reshape({-1}).to(at::kFloat), in.target, at::Reduction::Mean);
  const at::Tensor scores = output.reshape({-1, output.size(-1)}).to(at::kFloat);
  if (scores.size(1) < static_cast<std::int64_t>(format_.classes))
    throw InputError("it gives " + std::to_string(scores.size(1)) +
                     " outputs, too few for a label of " + std::to_string(format_.classes - 1));
  const bool weighted = in.weights.defined();
  const auto sum_up = weighted ? at::Reduction::None : at::Reduction::Mean;
  at::Tensor loss;
  if (how_.loss == NetworkLoss::cross_entropy) {
    loss = at::cross_entropy_loss(scores, in.target, {}, sum_up);
  } else {
    loss = differences(scores, at::one_hot(in.target, scores.size(1)).to(at::kFloat), sum_up);
    if (weighted) loss = loss.mean(1);
  }
  return weighted ? (loss * in.weights).mean() : loss;
}

std::optional<Preprocessing> Instance::preprocessing_inside() const {
  if (!takes_raw_data(module_)) return std::nullopt;
  return preprocessing_of(module_, "the network");
}

std::string Instance::script(std::span<const float> x, const Preprocessing* preprocessing) {
  const Place place(*memory_);
  show(x);
  module_.eval();
  const bool as_it_is = !preprocessing || takes_raw_data(module_);
  std::string bytes = to_bytes(as_it_is ? module_ : with_preprocessing(module_, *preprocessing));
  module_.train();
  return bytes;
}

}  // namespace dasgd::torch_adapter
