#include "dasgd/models/predict.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/arrays/npy.hpp"
#include "dasgd/data/rows/csv_file.hpp"
#include "dasgd/models/data_source.hpp"
#include "dasgd/models/network_problem.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file = open_file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InputError(path + ": cannot be read; it belongs to a finished run");
  return text;
}

constexpr std::size_t samples_at_a_time = 64;  // as evaluations do, so that sums are the same

// A file that no run has left says with its outputs what it answers.
void name_answers(Preprocessing& about, std::size_t outputs) {
  if (about.shape.empty() && outputs == 1) about.answers = Answers::number;
  if (about.answers == Answers::number) about.classes.clear();
  if (about.answers == Answers::number || about.answers == Answers::margin) return;
  for (std::size_t k = about.classes.size(); k < outputs; ++k)
    about.classes.push_back(std::to_string(k));
}

/// Softmax, logistic and linear regression: a product with the weights.
class LinearModel final : public Predictor {
 public:
  LinearModel(Preprocessing preprocessing, const std::string& path)
      : preprocessing_(std::move(preprocessing)) {
    const NpyArray array(path);
    const bool margin = preprocessing_.answers == Answers::margin;
    const bool number = preprocessing_.answers == Answers::number;
    outputs_ = margin || number ? 1 : preprocessing_.classes.size();
    const std::size_t expected = (preprocessing_.width() + (margin ? 0 : 1)) * outputs_;
    if (array.header().count() != expected)
      throw InputError(path + ": has " + std::to_string(array.header().count()) +
                       " numbers; what preprocessing.json describes needs " +
                       std::to_string(expected));
    for (std::size_t k = 0; k < expected; ++k) weights_.push_back(array.number(k));
  }

  const Preprocessing& preprocessing() const override { return preprocessing_; }

  std::vector<float> outputs(std::span<const float> raw, std::size_t count,
                             const std::vector<std::int64_t>&) override {
    const std::size_t width = preprocessing_.width();
    std::vector<float> sample(width), result;
    for (std::size_t r = 0; r < count; ++r) {
      const auto from = raw.subspan(r * width, width);
      std::copy(from.begin(), from.end(), sample.begin());
      preprocessing_.apply(sample);
      append_outputs(sample, result);
    }
    return result;
  }

 private:
  void append_outputs(std::span<const float> sample, std::vector<float>& to) const {
    std::vector<double> sums(outputs_, 0.0);
    for (std::size_t i = 0; i < sample.size(); ++i)
      for (std::size_t k = 0; k < outputs_; ++k) sums[k] += sample[i] * weights_[i * outputs_ + k];
    for (std::size_t k = 0; k < outputs_; ++k) {
      const std::size_t bias = sample.size() * outputs_ + k;
      const double sum = sums[k] + (bias < weights_.size() ? weights_[bias] : 0);
      const auto& scale = preprocessing_.target;
      to.push_back(static_cast<float>(scale ? sum * scale->deviation + scale->mean : sum));
    }
  }

  const Preprocessing preprocessing_;
  std::size_t outputs_ = 1;
  std::vector<double> weights_;
};

// Tables are looked at while they are read, arrays here.
void require_numbers(std::span<const float> raw, const Preprocessing& model, const RawData& data,
                     std::size_t first) {
  if (model.shape.empty()) return;  // a network from outside: its shape is unknown
  const bool may_miss = !model.fill.empty();
  const auto bad = std::find_if(raw.begin(), raw.end(), [&](float v) {
    return std::isinf(v) || (std::isnan(v) && !may_miss);
  });
  if (bad == raw.end()) return;
  const auto at = static_cast<std::size_t>(bad - raw.begin());
  const std::size_t width = data.inputs->width();
  throw InputError(fmt::format(
      "{}: row {}, number {} is {}", data.path, first + at / width + 1, at % width + 1,
      std::isinf(*bad) ? "infinite"
                       : "missing; no number was missing in the training data: to allow it, give "
                         "`missing` mean to train"));
}

std::string in_words(const std::vector<std::int64_t>& shape) {
  if (shape.size() == 3)
    return fmt::format("pictures of {} x {} with {} channels", shape[1], shape[2], shape[0]);
  return fmt::format("rows of {} numbers", shape.empty() ? 0 : shape[0]);
}

}  // namespace

std::unique_ptr<Predictor> open_predictor(const std::string& run_or_file) {
  if (!fs::is_directory(run_or_file)) {
    if (!fs::exists(run_or_file))
      throw InputError(run_or_file +
                       ": does not exist; give a run directory or a TorchScript file");
    return open_network(run_or_file);
  }
  if (fs::exists(run_or_file + "/model.pt")) return open_network(run_or_file + "/model.pt");
  const std::string about = run_or_file + "/preprocessing.json";
  if (!fs::exists(about))
    throw InputError(run_or_file + ": has no model to predict with: there is neither " +
                     "model.pt nor preprocessing.json");
  return std::make_unique<LinearModel>(preprocessing_from_json(read_file(about), about),
                                       run_or_file + "/model.npy");
}

RawData read_for(const Preprocessing& model, const std::string& data, const NamedArrays* arrays) {
  SourceOptions options{.table = {.missing = model.missing, .needs_labels = false},
                        .arrays = arrays};
  if (!model.shape.empty()) options.table.like = &model;
  if (data == "-") {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    return read_csv(text, "standard input", options.table);
  }
  DataSource source = read_source(data, options);
  RawData rows = source.test ? std::move(*source.test) : std::move(source.data);
  if (!model.shape.empty() && rows.shape != model.shape)
    throw InputError(fmt::format("{}: has {}; the model takes {}", rows.path, in_words(rows.shape),
                                 in_words(model.shape)));
  return rows;
}

bool predict_all(Predictor& model, const RawData& data, const std::stop_token& stop,
                 const EachAnswer& each) {
  Preprocessing about = model.preprocessing();
  const std::size_t width = data.inputs->width();
  std::vector<float> raw;
  for (std::size_t first = 0; first < data.rows(); first += samples_at_a_time) {
    if (stop.stop_requested()) return false;
    const std::size_t count = std::min(samples_at_a_time, data.rows() - first);
    raw.resize(count * width);
    for (std::size_t k = 0; k < count; ++k)
      data.inputs->copy(first + k, std::span(raw).subspan(k * width, width));
    require_numbers(raw, about, data, first);
    const std::vector<float> outputs = model.outputs(raw, count, data.shape);
    const std::size_t size = outputs.size() / count;
    if (first == 0) name_answers(about, size);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t place = first + k;
      each(data.numbers.empty() ? place : data.numbers[place], place,
           read_answer(std::span(outputs).subspan(k * size, size), about.answers), about.classes);
    }
  }
  return true;
}

}  // namespace dasgd
