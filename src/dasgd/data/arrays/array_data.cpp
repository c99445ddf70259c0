#include "dasgd/data/arrays/array_data.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "dasgd/core/error.hpp"
#include "dasgd/data/arrays/zip_archive.hpp"

namespace dasgd {
namespace {

/// Some rows of others.
class SelectedRows final : public NumberRows {
 public:
  SelectedRows(std::shared_ptr<const NumberRows> all, std::vector<std::size_t> kept)
      : all_(std::move(all)), kept_(std::move(kept)) {}
  std::size_t rows() const override { return kept_.size(); }
  std::size_t width() const override { return all_->width(); }
  void copy(std::size_t row, std::span<float> to) const override { all_->copy(kept_[row], to); }
  bool may_miss() const override { return all_->may_miss(); }
  void fetch(std::size_t row) const override { all_->fetch(kept_[row]); }
  void expect_any_order() const override { all_->expect_any_order(); }

 private:
  const std::shared_ptr<const NumberRows> all_;
  const std::vector<std::size_t> kept_;
};

std::int64_t as_size(std::size_t n) { return static_cast<std::int64_t>(n); }

// Channels, height and width; whether channels stand last.
std::pair<std::vector<std::int64_t>, std::size_t> sample_shape(const NpyHeader& header) {
  const std::vector<std::size_t>& s = header.shape;
  if (s.size() == 3) return {{1, as_size(s[1]), as_size(s[2])}, 0};
  if (s.size() == 4) {
    const auto few = [](std::size_t n) { return n == 1 || n == 3 || n == 4; };
    if (few(s[3]) && !few(s[1])) return {{as_size(s[3]), as_size(s[1]), as_size(s[2])}, s[3]};
    return {{as_size(s[1]), as_size(s[2]), as_size(s[3])}, 0};
  }
  return {{as_size(header.width())}, 0};
}

Labels labels_of(const NpyArray& y, std::size_t rows) {
  const NpyHeader& header = y.header();
  if (header.count() != rows)
    throw InputError(y.path() + ": has " + std::to_string(header.count()) + " labels for " +
                     std::to_string(rows) + " samples; one for each is needed");
  Labels labels;
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t r = 0; r < rows; ++r) {
    if (!header.is_text()) {
      labels.values.push_back(y.number(r));
      continue;
    }
    const std::string text = y.text(r);
    const auto [at, is_new] = place_of.emplace(text, labels.names.size());
    if (is_new) labels.names.push_back(text);
    labels.values.push_back(static_cast<double>(at->second));
  }
  return labels;
}

// The column of the label in an array that holds both; nothing where it holds inputs alone.
std::optional<std::size_t> label_column(const NpyArray& x, const TableOptions& options) {
  const std::size_t width = x.header().width();
  if (options.like) {
    if (x.header().shape.size() != 2 || width != options.like->width() + 1) return std::nullopt;
    return options.like->label_at;
  }
  if (x.header().shape.size() != 2 || width < 2)
    throw InputError(x.path() + ": has no labels; give them as a second array: X.npy,y.npy");
  if (options.label.empty()) return width - 1;
  std::size_t number = 0;
  const char* const end = options.label.data() + options.label.size();
  const auto read = std::from_chars(options.label.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 1 || number > width)
    throw InputError("`label` " + options.label + ": " + x.path() + " has columns 1 to " +
                     std::to_string(width) + ", without names");
  return number - 1;
}

void drop_incomplete(RawData& data, bool needs_labels) {
  std::vector<std::size_t> kept;
  std::vector<float> row(data.inputs->width());
  for (std::size_t r = 0; r < data.rows(); ++r) {
    if (data.inputs->may_miss()) data.inputs->copy(r, row);
    const bool whole = std::none_of(row.begin(), row.end(), [](float v) { return std::isnan(v); });
    const bool unlabelled = !data.labels.values.empty() && std::isnan(data.labels.values[r]);
    if (whole && !(needs_labels && unlabelled)) kept.push_back(r);
  }
  data.dropped = data.rows() - kept.size();
  if (data.dropped == 0) return;
  if (kept.empty()) throw InputError(data.path + ": all rows have missing numbers");
  for (std::size_t k = 0; k < kept.size() && !data.labels.values.empty(); ++k)
    data.labels.values[k] = data.labels.values[kept[k]];
  if (!data.labels.values.empty()) data.labels.values.resize(kept.size());
  data.numbers = kept;
  data.inputs = std::make_shared<SelectedRows>(data.inputs, std::move(kept));
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

RawData read_arrays(const ArrayPair& arrays, const TableOptions& options) {
  const auto& [x, y] = arrays;
  if (x.header().is_text() || x.header().shape.empty() || x.header().shape.size() > 4)
    throw InputError(x.path() + ": holds no rows of numbers");
  const auto [shape, channels_last] = sample_shape(x.header());
  RawData data{.path = x.path(), .shape = shape};
  const std::size_t rows = x.header().shape[0];
  ArrayRows::Layout layout{.channels_last = channels_last};
  if (y) {
    data.labels = labels_of(*y, rows);
    data.label_at = x.header().width();
  } else if (const auto column = label_column(x, options)) {
    layout.skipped = *column;
    data.shape = {as_size(x.header().width() - 1)};
    data.label_at = *column;
    for (std::size_t r = 0; r < rows; ++r)
      data.labels.values.push_back(x.number(r * x.header().width() + *column));
  }
  data.inputs = std::make_shared<ArrayRows>(x, layout);
  if (options.missing == Missing::drop) drop_incomplete(data, options.needs_labels);
  return data;
}

RawData read_npy(const std::string& inputs, const std::optional<std::string>& labels,
                 const TableOptions& options) {
  ArrayPair arrays{NpyArray(inputs)};
  if (labels) arrays.labels.emplace(*labels);
  return read_arrays(arrays, options);
}

std::pair<RawData, std::optional<RawData>> read_npz(const std::string& path,
                                                    const TableOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  std::map<std::string, NpyArray> arrays;
  for (const ZipEntry& entry : read_zip_directory(file->bytes(), path)) {
    std::string name = lower_case(entry.name);
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    const std::string where = path + ", array " + name;
    if (entry.deflated)
      arrays.emplace(name, NpyArray(unpack(file->bytes(), entry, path), where));
    else
      arrays.emplace(name, NpyArray(file, entry.begin, entry.size, where));
  }
  const auto find = [&](std::initializer_list<const char*> names) -> std::optional<NpyArray> {
    for (const char* name : names)
      if (const auto at = arrays.find(name); at != arrays.end()) return at->second;
    return std::nullopt;
  };
  auto x = find({"x", "x_train", "data", "images", "inputs", "features"});
  const auto y = find({"y", "y_train", "labels", "label", "target", "targets"});
  if (!x && arrays.size() == 1) x = arrays.begin()->second;
  if (!x) throw InputError(path + ": has no array x; write numpy.savez(file, x=..., y=...)");
  std::pair<RawData, std::optional<RawData>> read{read_arrays({*x, y}, options), std::nullopt};
  if (const auto x_test = find({"x_test"}))
    read.second = read_arrays({*x_test, find({"y_test"})}, options);
  return read;
}

}  // namespace dasgd
