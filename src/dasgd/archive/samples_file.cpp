#include "dasgd/archive/samples_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace dasgd {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = at; k < at + 3; ++k)
      three = three << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0);
    for (std::size_t k = 0; k < 4; ++k)
      text += at + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

constexpr std::size_t looked_at = 2000, worst_kept = 12, columns_shown = 12, at_a_time = 64;

struct Wrong {
  std::size_t place = 0;
  Answer answer;
  double badness = 0;
};

nlohmann::ordered_json values_of(const RawData& data, std::span<const float> row) {
  nlohmann::ordered_json values;
  if (data.encoding.empty()) {
    for (std::size_t c = 0; c < std::min(columns_shown, data.columns.size()); ++c)
      values[data.columns[c]] = ColumnEncoding{}.shown(row.subspan(c, 1));
    return values;
  }
  for (const ColumnEncoding& column : data.encoding) {
    const std::size_t width = column.width();
    if (width > 0 && !column.column.empty() && values.size() < columns_shown)
      values[column.column] = column.shown(row.first(width));
    row = row.subspan(width);
  }
  return values;
}

nlohmann::ordered_json wrong_json(const PreparedSamples& samples, Part part, const Wrong& wrong,
                                  const Preprocessing& about) {
  const DataPart& from = samples.parts()[part];
  const RawData& data = *from.data;
  const std::size_t row = from.row(wrong.place);
  nlohmann::ordered_json json{{"row", data.numbers.empty() ? row : data.numbers[row]}};
  if (!data.files.empty()) json["file"] = data.files[row];
  const double target = samples.target(part, wrong.place);
  if (about.classes.empty()) {
    json["label"] = plain_number(target);
    json["answer"] = plain_number(static_cast<double>(static_cast<float>(wrong.answer.number)));
    json["error"] = wrong.badness;
  } else {
    const auto label = static_cast<std::size_t>(target);
    json["label"] = about.classes[label];
    json["answer"] = about.classes[wrong.answer.best];
    json["probability"] = wrong.answer.probabilities[label];
    json["confidence"] = wrong.answer.probabilities[wrong.answer.best];
  }
  std::vector<float> raw(data.inputs->width());
  data.inputs->copy(row, raw);
  if (data.shape.size() == 3) {
    const auto size = [&](std::size_t k) { return static_cast<std::size_t>(data.shape[k]); };
    json["picture"] = base64(encode_png(picture_of(raw, size(0), size(1), size(2))));
  } else if (auto values = values_of(data, raw); !values.empty()) {
    json["values"] = std::move(values);
  }
  return json;
}

}  // namespace

std::optional<std::string> worst_json(const PreparedSamples& samples, Predictor& model) {
  const Part part = samples.count(Part::validation) > 0 ? Part::validation : Part::train;
  const DataPart& from = samples.parts()[part];
  const Preprocessing& about = model.preprocessing();
  const std::size_t all = samples.count(part), count = std::min(all, looked_at);
  const std::size_t width = from.data->inputs->width();
  std::vector<Wrong> found;
  for (std::size_t first = 0; first < count; first += at_a_time) {
    const std::size_t size = std::min(at_a_time, count - first);
    std::vector<float> raw(size * width);
    for (std::size_t k = 0; k < size; ++k)
      from.data->inputs->copy(from.row((first + k) * all / count),
                              std::span(raw).subspan(k * width, width));
    const std::vector<float> outputs = model.outputs(raw, size, from.data->shape);
    const std::size_t each = outputs.size() / size;
    for (std::size_t k = 0; k < size; ++k) {
      Wrong wrong{(first + k) * all / count,
                  read_answer(std::span(outputs).subspan(k * each, each), about.answers)};
      const double target = samples.target(part, wrong.place);
      if (about.classes.empty()) {
        wrong.badness = std::fabs(wrong.answer.number - target);
      } else {
        const auto label = static_cast<std::size_t>(target);
        if (label >= wrong.answer.probabilities.size() || wrong.answer.best == label ||
            wrong.answer.best >= about.classes.size())
          continue;
        wrong.badness = 1 - wrong.answer.probabilities[label];
      }
      if (std::isfinite(wrong.badness)) found.push_back(std::move(wrong));
    }
  }
  if (found.empty()) return std::nullopt;
  std::stable_sort(found.begin(), found.end(),
                   [](const Wrong& a, const Wrong& b) { return a.badness > b.badness; });
  found.resize(std::min(found.size(), worst_kept));
  nlohmann::ordered_json json{{"part", to_string(part)}, {"looked_at", count}, {"of", all}};
  json["samples"] = nlohmann::ordered_json::array();
  for (const Wrong& wrong : found)
    json["samples"].push_back(wrong_json(samples, part, wrong, about));
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string samples_json(std::span<const ShownSample> samples) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ShownSample& sample : samples)
    all.push_back({{"picture", base64(encode_png(sample.picture))},
                   {"label", sample.label},
                   {"answer", sample.answer},
                   {"probability", sample.probability}});
  return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dasgd
