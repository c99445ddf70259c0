#include "dasgd/models/description/describe_data.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/models/description/describe_table.hpp"
#include "dasgd/models/description/image_sheet.hpp"

namespace dasgd {
namespace {

constexpr std::size_t shown_at_most = 20;

struct ColumnFigures {
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  std::size_t count = 0, missing = 0;

  void add(float value) {
    if (std::isnan(value)) {
      ++missing;
      return;
    }
    least = std::min<double>(least, value);
    most = std::max<double>(most, value);
    sum += value;
    ++count;
  }
  void add(const ColumnFigures& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    sum += other.sum;
    count += other.count;
    missing += other.missing;
  }
};

// With all cores, a share of the rows each.
std::vector<ColumnFigures> look_at_columns(const NumberRows& inputs) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::vector<ColumnFigures>> shares(cores);
  in_parallel(cores, static_cast<unsigned>(cores), [&](std::size_t k) {
    std::vector<ColumnFigures>& columns = shares[k];
    columns.resize(inputs.width());
    std::vector<float> row(inputs.width());
    constexpr std::size_t block = 8192;
    std::size_t kept = inputs.rows() * k / cores;  // the first whose memory was not released
    for (std::size_t r = kept; r < inputs.rows() * (k + 1) / cores; ++r) {
      inputs.copy(r, row);
      for (std::size_t c = 0; c < row.size(); ++c) columns[c].add(row[c]);
      if (r + 1 - kept == block) inputs.release(std::exchange(kept, r + 1), r + 1);
    }
  });
  for (std::size_t k = 1; k < cores; ++k)
    for (std::size_t c = 0; c < inputs.width(); ++c) shares[0][c].add(shares[k][c]);
  return shares[0];
}

// A name that prints, in as many letters as fit.
std::string shown_name(const std::string& name) {
  const std::string piece = shown_piece(name);
  return piece.substr(1, piece.size() - 2);
}

std::string describe_columns(const RawData& data) {
  const auto columns = look_at_columns(*data.inputs);
  std::string text = fmt::format("  {:<20}{:>14}{:>14}{:>14}{:>10}\n", "column", "least", "mean",
                                 "largest", "missing");
  for (std::size_t c = 0; c < std::min(shown_at_most, columns.size()); ++c) {
    const ColumnFigures& column = columns[c];
    const std::string name = data.columns.empty()
                                 ? std::to_string(c + 1 + (c >= data.label_at ? 1 : 0))
                                 : data.columns[c];
    text +=
        fmt::format("  {:<20}{:>14.6g}{:>14.6g}{:>14.6g}{:>10}\n", shown_name(name), column.least,
                    column.sum / static_cast<double>(std::max<std::size_t>(1, column.count)),
                    column.most, column.missing);
  }
  if (columns.size() > shown_at_most)
    text += fmt::format("  and {} more columns\n", show_count(columns.size() - shown_at_most));
  std::size_t missing = 0;
  for (const ColumnFigures& column : columns) missing += column.missing;
  return text + fmt::format("  missing    {} numbers\n", show_count(missing));
}

std::string describe_images(const RawData& data) {
  const auto columns = look_at_columns(*data.inputs);
  ColumnFigures all;
  for (const ColumnFigures& column : columns) all.add(column);
  return fmt::format(
      "  images     {} x {} pixels, {}\n  pixels     from {:g} to {:g}, mean {:.4g}\n",
      data.shape[1], data.shape[2],
      data.shape[0] == 1 ? "grey" : fmt::format("{} channels", data.shape[0]), all.least, all.most,
      all.sum / static_cast<double>(all.count));
}

std::string describe_labels(const RawData& data) {
  const std::string column =
      data.label.empty() ? "" : fmt::format(" (column {})", shown_name(data.label));
  if (data.labels.values.empty()) return "  labels     none\n";
  std::vector<std::string> classes;
  try {
    classes = find_classes(data);
  } catch (const InputError&) {
    const auto [least, most] =
        std::minmax_element(data.labels.values.begin(), data.labels.values.end());
    return fmt::format(
        "  labels     numbers from {:g} to {:g}{}: train with `model` linear, or a network with "
        "`loss` mse\n",
        *least, *most, column);
  }
  std::vector<std::size_t> count(classes.size());
  for (const double label : to_classes(data, classes))
    if (!std::isnan(label)) ++count[static_cast<std::size_t>(label)];
  std::string text = fmt::format("  labels     {} classes{}\n", classes.size(), column);
  for (std::size_t c = 0; c < std::min(shown_at_most, classes.size()); ++c)
    text += fmt::format("    {:<18} {}\n", shown_name(classes[c]), show_count(count[c]));
  if (classes.size() > shown_at_most)
    text += fmt::format("    and {} more classes\n", show_count(classes.size() - shown_at_most));
  return text;
}

std::string describe_one(const RawData& data, const std::string& part) {
  const bool images = data.shape.size() == 3;
  std::string text = fmt::format("{}{}: {} {}\n", data.path, part, show_count(data.rows()),
                                 images ? "images" : "rows");
  text += images ? describe_images(data) : describe_columns(data);
  return text + describe_labels(data);
}

std::string draw(const RawData& data, const std::string& file) {
  if (data.shape.size() != 3)
    throw InputError("a picture shows images; " + data.path + " holds rows of numbers");
  const ImageSheet sheet = first_images(data);
  write_file(file, encode_png(sheet.picture));
  return fmt::format("  picture    the first {}, ten in a row: {}\n", sheet.images, file);
}

}  // namespace

std::string describe_data(const std::string& data, const SourceOptions& options,
                          const std::string& picture) {
  SourceOptions lenient = options;
  lenient.table.missing = Missing::mean;  // nothing is refused for it
  const bool in_memory = options.arrays && options.arrays->contains(data);
  if (!in_memory && kind_of_data(data) == DataKind::csv) {
    const std::string path = locate_data(data);
    if (!picture.empty())
      throw InputError("a picture shows images; " + path + " holds rows of numbers");
    return describe_table(look_at_csv(path), path, options.table.label);
  }
  const DataSource source = read_source(data, lenient);
  std::string text = describe_one(source.data, source.test ? ", for training" : "");
  if (source.test) text += describe_one(*source.test, ", for testing");
  return picture.empty() ? text : text + draw(source.data, picture);
}

}  // namespace dasgd
