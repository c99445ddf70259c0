#include "dasgd/data/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/moments.hpp"
#include "dasgd/data/wide_loops.hpp"

namespace dasgd {
namespace {

using Words = std::vector<std::string>;

const Words scale_words{"none", "255", "standard", "inputs"};
const Words missing_words{"error", "drop", "mean", "median", "most-frequent"};
const Words answer_words{"number", "scores", "shares", "margin"};

std::size_t place_of(const std::string& word, const Words& words, const char* what) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end())
    throw InputError(std::string("unknown ") + what + " \"" + word + "\"" +
                     suggestion(word, words));
  return static_cast<std::size_t>(at - words.begin());
}

/// Sums over the samples of a block, less one sample: squares of what is left do not cancel, and
/// are 0 where all numbers are the same.
class BlockSums {
 public:
  /// NaN where that sample misses a number: the first one of the block takes its place.
  explicit BlockSums(std::vector<double> less)
      : less_(std::move(less)), count_(less_.size()), sum_(less_.size()), squares_(less_.size()) {}

  void add(std::span<const float> sample) {
    if (whole_++ == 0)
      for (std::size_t i = 0; i < sample.size(); ++i) begin_with(i, sample[i]);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const double d = static_cast<double>(sample[i]) - less_[i];
      sum_[i] += d;
      squares_[i] += d * d;
    }
  }
  /// A number of a sample that misses others.
  void add_alone(std::size_t i, float value) {
    begin_with(i, value);
    const double d = static_cast<double>(value) - less_[i];
    count_[i] += 1;
    sum_[i] += d;
    squares_[i] += d * d;
  }
  Moments of(std::size_t i) const {
    const double n = count_[i] + static_cast<double>(whole_);
    if (n == 0) return {};
    const double mean = sum_[i] / n;
    return {n, less_[i] + mean, std::max(0.0, squares_[i] - n * mean * mean)};
  }

 private:
  void begin_with(std::size_t i, float value) {
    if (std::isnan(less_[i])) less_[i] = static_cast<double>(value);
  }

  std::vector<double> less_, count_, sum_, squares_;
  std::size_t whole_ = 0;
};

bool is_whole(std::span<const float> sample) {
  return std::all_of(sample.begin(), sample.end(), [](float v) { return std::isfinite(v); });
}

std::vector<double> sample_of(const NumberRows& inputs, std::size_t row) {
  std::vector<float> sample(inputs.width());
  inputs.copy(row, sample);
  return {sample.begin(), sample.end()};
}

[[noreturn]] void refuse_number(const std::string& path, std::size_t row, std::size_t at,
                                float value) {
  const std::string where =
      path + ": row " + std::to_string(row + 1) + ", number " + std::to_string(at + 1);
  if (std::isinf(value))
    throw InputError(where + " is infinite, or beyond 3.4e38, the largest number of 32 bits");
  throw InputError(where + " is missing; `missing` mean puts the mean of its column there");
}

// Of columns in any unit; 1 where all numbers are the same, or so small that it is beyond a float.
float factor_of(const Moments& column) {
  const double factor = 1 / std::sqrt(column.variance());
  return factor <= std::numeric_limits<float>::max() ? static_cast<float>(factor) : 1.0f;
}

constexpr std::size_t rows_per_block = 8192, columns_at_once = 16;

/// Rows in blocks: all cores look at them, and what they look at need not stay in memory.
struct RowBlocks {
  const NumberRows& inputs;
  std::span<const std::uint32_t> rows;  // empty: all

  std::size_t count() const { return rows.empty() ? inputs.rows() : rows.size(); }
  std::size_t blocks() const { return (count() + rows_per_block - 1) / rows_per_block; }
  std::size_t operator[](std::size_t place) const { return rows.empty() ? place : rows[place]; }

  /// Calls look(block, each_row); each_row(take) calls take(row, sample) for the rows of the block.
  template <typename Look>
  void look_at(const Look& look) const {
    in_parallel(blocks(), std::max(1u, std::thread::hardware_concurrency()),
                [&](std::size_t block) {
                  const std::size_t first = block * rows_per_block;
                  const std::size_t last = std::min(count(), first + rows_per_block);
                  look(block, [&](const auto& take) {
                    std::vector<float> sample(inputs.width());
                    for (std::size_t k = first; k < last; ++k) {
                      inputs.copy((*this)[k], sample);
                      take((*this)[k], std::span<const float>(sample));
                    }
                  });
                  inputs.release((*this)[first], (*this)[last - 1] + 1);
                });
  }
};

float most_frequent(const std::vector<float>& sorted) {
  float best = 0;
  std::size_t most = 0;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto next = std::upper_bound(at, sorted.end(), *at);
    if (const auto count = static_cast<std::size_t>(next - at); count > most) {
      most = count;
      best = *at;
    }
    at = next;
  }
  return best;
}

// The median or the most frequent value of each column. All values of some columns are in memory
// at a time.
void fill_by_values(Preprocessing& to, const RowBlocks& rows) {
  const std::size_t width = rows.inputs.width();
  const std::size_t groups = (width + columns_at_once - 1) / columns_at_once;
  in_parallel(groups, std::max(1u, std::thread::hardware_concurrency()), [&](std::size_t group) {
    const std::size_t first = group * columns_at_once;
    const std::size_t last = std::min(width, first + columns_at_once);
    std::vector<std::vector<float>> values(last - first);
    std::vector<float> sample(width);
    for (std::size_t k = 0; k < rows.count(); ++k) {
      rows.inputs.copy(rows[k], sample);
      for (std::size_t c = first; c < last; ++c)
        if (std::isfinite(sample[c])) values[c - first].push_back(sample[c]);
    }
    for (std::size_t c = first; c < last; ++c) {
      std::vector<float>& column = values[c - first];
      if (column.empty()) continue;
      std::sort(column.begin(), column.end());
      const std::size_t middle = column.size() / 2;
      const float upper = column[middle], lower = column[(column.size() - 1) / 2];
      to.fill[c] =
          to.missing == Missing::median ? lower + (upper - lower) / 2 : most_frequent(column);
    }
  });
}

}  // namespace

Scale parse_scale(const std::string& text) {
  return static_cast<Scale>(place_of(text, scale_words, "scale"));
}
Missing parse_missing(const std::string& text) {
  return static_cast<Missing>(place_of(text, missing_words, "way with missing numbers"));
}
std::string to_string(Scale scale) { return scale_words[static_cast<std::size_t>(scale)]; }
std::string to_string(Missing missing) { return missing_words[static_cast<std::size_t>(missing)]; }
std::string to_string(Answers answers) { return answer_words[static_cast<std::size_t>(answers)]; }

std::size_t Preprocessing::width() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

std::size_t Preprocessing::period() const {
  return shape.size() == 3 ? static_cast<std::size_t>(shape[1] * shape[2]) : 1;
}

void Preprocessing::apply(std::span<float> sample) const {
  if (!fill.empty())
    for (std::size_t c = 0; c < sample.size(); ++c)
      if (std::isnan(sample[c])) sample[c] = fill[c];
  if (mean.empty()) return;
  if (const std::size_t plane = period(); plane > 1) {
    for (std::size_t c = 0; c < mean.size(); ++c)
      rescale(sample.subspan(c * plane, plane), mean[c], factor[c]);
  } else {
    for (std::size_t c = 0; c < sample.size(); ++c) sample[c] = (sample[c] - mean[c]) * factor[c];
  }
}

void require_numbers(const NumberRows& inputs, std::span<const std::uint32_t> rows, bool may_miss,
                     const std::string& path) {
  if (!inputs.may_miss()) return;
  const auto look = [&](std::size_t row, std::span<const float> sample) {
    if (is_whole(sample)) return;
    for (std::size_t i = 0; i < sample.size(); ++i)
      if (std::isinf(sample[i]) || (std::isnan(sample[i]) && !may_miss))
        refuse_number(path, row, i, sample[i]);
  };
  RowBlocks{inputs, rows}.look_at([&](std::size_t, const auto& each_row) { each_row(look); });
}

void fit(Preprocessing& to, const NumberRows& inputs, std::span<const std::uint32_t> of,
         const std::string& path) {
  const std::size_t width = inputs.width(), plane = to.period(), columns = width / plane;
  const bool fills = dasgd::fills(to.missing);
  to.mean.clear();
  if (to.scale == Scale::by_255) {
    to.mean.assign(columns, 0.0f);
    to.factor.assign(columns, 1.0f / 255.0f);
  }
  if (!is_standard(to.scale) && !fills) return require_numbers(inputs, of, false, path);
  const RowBlocks rows{inputs, of};
  const std::vector<double> less = sample_of(inputs, rows[0]);
  // Blocks are added in their order, so that the result does not depend on who was fast.
  std::vector<std::vector<Moments>> found(rows.blocks(), std::vector<Moments>(columns));
  rows.look_at([&](std::size_t block, const auto& each_row) {
    BlockSums sums(less);
    each_row([&](std::size_t row, std::span<const float> sample) {
      if (!inputs.may_miss() || is_whole(sample)) return sums.add(sample);
      for (std::size_t i = 0; i < width; ++i) {
        if (std::isfinite(sample[i]))
          sums.add_alone(i, sample[i]);
        else if (!fills || std::isinf(sample[i]))
          refuse_number(path, row, i, sample[i]);
      }
    });
    for (std::size_t i = 0; i < width; ++i) found[block][i / plane].add(sums.of(i));
  });
  std::vector<Moments> all(columns);
  for (const auto& block : found)
    for (std::size_t c = 0; c < columns; ++c) all[c].add(block[c]);
  if (fills) {
    to.fill.clear();
    for (std::size_t i = 0; i < width; ++i)
      to.fill.push_back(static_cast<float>(all[i / plane].mean));
    if (to.missing != Missing::mean) fill_by_values(to, rows);
  }
  if (!is_standard(to.scale)) return;
  to.factor.clear();
  for (const Moments& column : all) {
    to.mean.push_back(static_cast<float>(column.mean));
    to.factor.push_back(factor_of(column));
  }
  const std::vector<bool> indicators = indicators_of(to.encoding);
  for (std::size_t c = 0; c < indicators.size(); ++c)
    if (indicators[c]) to.mean[c] = 0, to.factor[c] = 1;
}

std::optional<TargetScale> fit_target(std::span<const double> targets,
                                      std::span<const std::uint32_t> rows) {
  Moments all;
  if (rows.empty())
    for (const double target : targets) all.add(target);
  for (const std::uint32_t row : rows) all.add(targets[row]);
  if (!std::isfinite(all.mean)) return std::nullopt;
  const double variance = all.variance();  // small units have small ones: no least value here
  return TargetScale{all.mean, std::isnormal(variance) ? std::sqrt(variance) : 1.0};
}

std::string to_json(const Preprocessing& p) {
  nlohmann::ordered_json json{{"shape", p.shape},
                              {"scale", to_string(p.scale)},
                              {"mean", p.mean},
                              {"factor", p.factor},
                              {"missing", to_string(p.missing)},
                              {"fill", p.fill},
                              {"resize", p.resize},
                              {"columns", p.columns},
                              {"label", p.label},
                              {"label_at", p.label_at},
                              {"classes", p.classes},
                              {"answers", to_string(p.answers)}};
  if (!p.encoding.empty())
    json["encoding"] = nlohmann::ordered_json::parse(encoding_to_json(p.encoding));
  if (p.label_comma) json["label_decimal"] = ",";
  if (p.target) json["target"] = {{"mean", p.target->mean}, {"deviation", p.target->deviation}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Preprocessing preprocessing_from_json(const std::string& text, const std::string& path) {
  const auto fail = [&](const std::string& why) -> InputError {
    return InputError(path + ": is not a valid description of preprocessing: " + why);
  };
  try {
    const auto json = parse_json(text);
    if (!json.is_object()) throw fail("it is not JSON, or repeats a key");
    Preprocessing p;
    p.shape = json.at("shape").get<std::vector<std::int64_t>>();
    p.scale = parse_scale(json.at("scale").get<std::string>());
    p.mean = json.at("mean").get<std::vector<float>>();
    p.factor = json.at("factor").get<std::vector<float>>();
    p.missing = parse_missing(json.at("missing").get<std::string>());
    p.fill = json.at("fill").get<std::vector<float>>();
    p.resize = json.at("resize").get<bool>();
    p.columns = json.at("columns").get<Words>();
    p.label = json.at("label").get<std::string>();
    p.label_at = json.at("label_at").get<std::size_t>();
    p.classes = json.at("classes").get<Words>();
    p.answers = static_cast<Answers>(
        place_of(json.at("answers").get<std::string>(), answer_words, "answers"));
    if (const auto target = json.find("target"); target != json.end()) {
      p.target = {target->at("mean").get<double>(), target->at("deviation").get<double>()};
      if (!(p.target->deviation > 0)) throw fail("its target has no deviation");
    }
    if (const auto encoding = json.find("encoding"); encoding != json.end())
      p.encoding = encoding_from_json(encoding->dump());
    p.label_comma = json.value("label_decimal", ".") == ",";
    for (const std::int64_t size : p.shape)
      if (size < 1 || size > (1 << 30)) throw fail("its shape is invalid");
    const std::size_t columns = p.shape.empty() ? 0 : p.width() / p.period();
    if (p.mean.size() != p.factor.size() || (!p.mean.empty() && p.mean.size() != columns) ||
        (!p.fill.empty() && p.fill.size() != p.width()) ||
        (!p.encoding.empty() && width_of(p.encoding) != p.width()))
      throw fail("its lists do not match its shape");
    return p;
  } catch (const nlohmann::json::exception& error) {
    throw fail(error.what());
  }
}

}  // namespace dasgd
