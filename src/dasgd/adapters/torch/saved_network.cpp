#include "dasgd/adapters/torch/saved_network.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <streambuf>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "dasgd/adapters/torch/blas.hpp"
#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/adapters/torch/plain_errors.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/arrays/zip_archive.hpp"

namespace dasgd::torch_adapter {
namespace {

using torch::jit::Module;

// What torch.save leaves is a pickle, alone or in an archive; TorchScript has its code beside it.
bool is_of_torch_save(const std::string& bytes) {
  const bool archive = bytes.starts_with("PK");
  const auto has = [&](const char* name) { return bytes.find(name) != bytes.npos; };
  if (archive) return has("/data.pkl") && !has("/constants.pkl");
  return bytes.starts_with("\x80") && has("torch");
}

// LibTorch looks at no checksum of the archive: it would compute with whatever is there.
void require_intact(const std::string& bytes, const std::string& path) {
  std::vector<ZipEntry> entries;
  try {
    entries = read_zip_directory(bytes, path);
  } catch (const InputError&) {
    return;  // LibTorch says what is wrong with it
  }
  const auto damaged = [&](const ZipEntry& entry) {
    try {
      return !is_intact(bytes, entry, path);
    } catch (const InputError&) {
      return true;
    }
  };
  if (std::any_of(entries.begin(), entries.end(), damaged))
    throw InputError(path + ": is damaged: its checksum does not match; copy or write it again");
}

torch::Tensor per_channel(const std::vector<float>& numbers, const Preprocessing& p) {
  torch::Tensor tensor = torch::tensor(numbers);
  return p.shape.size() == 3 ? tensor.reshape({-1, 1, 1}) : tensor;
}

/// Writes to a string, without a copy at the end.
class StringBuffer final : public std::streambuf {
 public:
  explicit StringBuffer(std::size_t about) { text_.reserve(about); }
  std::string take() { return std::move(text_); }

 private:
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    text_.append(from, static_cast<std::size_t>(count));
    return count;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) text_.push_back(static_cast<char>(c));
    return traits_type::not_eof(c);
  }

  std::string text_;
};

class SavedNetwork final : public Predictor {
 public:
  explicit SavedNetwork(const std::string& path)
      : path_(path), module_(load_script(read_script_file(path), path, at::kCPU)) {
    module_.eval();
    if (takes_raw_data(module_)) preprocessing_ = preprocessing_of(module_, path);
  }

  const Preprocessing& preprocessing() const override { return preprocessing_; }

  std::vector<float> outputs(std::span<const float> raw, std::size_t count,
                             const std::vector<std::int64_t>& shape) override {
    const auto alone = alone_if_blas_is_serial(at::kCPU);
    const at::NoGradGuard no_grad;
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    std::vector<std::int64_t> sizes{static_cast<std::int64_t>(count)};
    sizes.insert(sizes.end(), shape.begin(), shape.end());
    const at::Tensor input = torch::from_blob(const_cast<float*>(raw.data()), sizes);
    try {
      const at::Tensor output = module_.forward({input}).toTensor().to(at::kFloat).contiguous();
      return {output.data_ptr<float>(), output.data_ptr<float>() + output.numel()};
    } catch (const std::exception& error) {
      throw_if_machine_failed(error);
      throw InputError(path_ + ": cannot take these samples: " + one_line(error));
    }
  }

 private:
  const std::string path_;
  Module module_;
  const BlasCaller caller_;
  Preprocessing preprocessing_;
};

}  // namespace

bool takes_raw_data(const Module& module) { return module.hasattr("preprocessing"); }

Preprocessing preprocessing_of(const Module& module, const std::string& path) {
  const auto text = module.attr("preprocessing");
  return preprocessing_from_json(text.isString() ? text.toStringRef() : "", path);
}

Module with_preprocessing(const Module& network, const Preprocessing& p) {
  Module made("dasgd.TakesRawData");
  made.register_attribute("training", c10::BoolType::get(), false);
  made.register_module("network", network);
  made.register_attribute("preprocessing", c10::StringType::get(), to_json(p));
  c10::List<std::string> classes;
  for (const std::string& name : p.classes) classes.push_back(name);
  made.register_attribute("classes", c10::ListType::ofStrings(), classes);
  std::string body = "    x = torch.to(x, 6)\n";  // float32, from pixels of any type
  if (!p.fill.empty()) {
    made.register_buffer("fill", torch::tensor(p.fill).reshape(p.shape));
    body += "    x = torch.where(torch.isnan(x), self.fill, x)\n";
  }
  if (!p.mean.empty()) {
    made.register_buffer("mean", per_channel(p.mean, p));
    made.register_buffer("factor", per_channel(p.factor, p));
    body += "    x = (x - self.mean) * self.factor\n";
  }
  body += "    y = self.network.forward(x)\n";
  if (p.target) {
    made.register_buffer("target_mean", torch::tensor(static_cast<float>(p.target->mean)));
    made.register_buffer("target_deviation",
                         torch::tensor(static_cast<float>(p.target->deviation)));
    body += "    y = y * self.target_deviation + self.target_mean\n";
  }
  made.define("def forward(self, x):\n" + body + "    return y\n");
  return made;
}

// LibTorch ends its file in a destructor, where a write that fails ends the program: memory for the
// whole file is taken before there is such an object.
std::string to_bytes(const Module& module) {
  std::size_t size = std::size_t{1} << 20;  // of the code
  const auto add = [&](const at::Tensor& tensor) { size += tensor.nbytes() + 1024; };
  for (const at::Tensor& parameter : module.parameters()) add(parameter);
  for (const at::Tensor& buffer : module.buffers()) add(buffer);
  StringBuffer buffer(size);
  std::ostream to(&buffer);
  module.save(to);
  return buffer.take();
}

Module load_script(const std::string& bytes, const std::string& path, at::Device device) {
  std::istringstream stream(bytes);
  try {
    return torch::jit::load(stream, device);
  } catch (const std::exception& error) {
    throw_if_machine_failed(error);
    if (is_of_torch_save(bytes))
      throw InputError(path +
                       ": is a file of torch.save, which has no code; write it in Python with "
                       "torch.jit.script(network).save(\"network.pt\")");
    throw InputError(path + ": is not a TorchScript file that can be used: " + one_line(error));
  }
}

std::string read_script_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || std::filesystem::is_directory(path))
    throw InputError(path + ": cannot be read; `model` needs a TorchScript file");
  require_intact(bytes, path);
  return bytes;
}

}  // namespace dasgd::torch_adapter

namespace dasgd {

std::unique_ptr<Predictor> open_saved_network(const std::string& path) {
  return torch_adapter::with_plain_errors(
      [&] { return std::make_unique<torch_adapter::SavedNetwork>(path); });
}

}  // namespace dasgd
