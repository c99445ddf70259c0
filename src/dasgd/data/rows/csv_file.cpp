#include "dasgd/data/rows/csv_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dasgd/base/files/mapped_file.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv_rows.hpp"

namespace dasgd {
namespace {

constexpr std::size_t bytes_per_piece = std::size_t{4} << 20;

bool is_blank_line(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find('\n')); }

// Pieces of whole lines.
std::vector<std::string_view> cut_lines(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::size_t size = std::min(bytes_per_piece, text.size());
    size = std::min(text.find('\n', size - 1), text.size() - 1) + 1;
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

/// The rows of all pieces, where they were read: a large table is there once.
class PieceRows final : public NumberRows {
 public:
  explicit PieceRows(std::size_t width) : width_(width) {}
  void add(std::vector<float> piece) {
    first_.push_back(rows_);
    rows_ += piece.size() / width_;
    pieces_.push_back(std::move(piece));
  }

  std::size_t rows() const override { return rows_; }
  std::size_t width() const override { return width_; }
  void copy(std::size_t row, std::span<float> to) const override {
    const auto after = std::upper_bound(first_.begin(), first_.end(), row);
    const auto k = static_cast<std::size_t>(after - first_.begin()) - 1;
    std::copy_n(pieces_[k].data() + (row - first_[k]) * width_, width_, to.begin());
  }

 private:
  const std::size_t width_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> first_;  // row of each piece
  std::vector<std::vector<float>> pieces_;
};

/// Numbers and texts of all pieces become labels of one kind.
class LabelMerger {
 public:
  explicit LabelMerger(bool texts) : texts_(texts) {}

  void add(const CsvRows& piece, Labels& to) {
    for (std::size_t r = 0; r < piece.labels.size(); ++r) {
      if (!texts_ || (piece.texts[r] < 0 && std::isnan(piece.labels[r]))) {
        to.values.push_back(piece.labels[r]);
      } else {
        const std::string& name = piece.texts[r] < 0
                                      ? (number_ = plain_number(piece.labels[r]))
                                      : piece.names[static_cast<std::size_t>(piece.texts[r])];
        const auto [at, is_new] = place_of_.emplace(name, to.names.size());
        if (is_new) to.names.push_back(name);
        to.values.push_back(static_cast<double>(at->second));
      }
    }
  }

 private:
  const bool texts_;
  std::string number_;
  std::unordered_map<std::string, std::size_t> place_of_;
};

[[noreturn]] void report(const std::vector<std::string_view>& pieces, std::size_t at,
                         std::size_t before, const CsvMistake& mistake, const std::string& path) {
  std::size_t line = before + mistake.line + 1;
  for (std::size_t k = 0; k < at; ++k)
    line += static_cast<std::size_t>(std::count(pieces[k].begin(), pieces[k].end(), '\n'));
  throw InputError(path + ":" + std::to_string(line) + ": " + mistake.what);
}

}  // namespace

RawData read_csv(const std::string& path, const TableOptions& options) {
  const MappedFile file(path);
  file.expect_sequential();
  return read_csv(file.bytes(), path, options);
}

RawData read_csv(std::string_view text, const std::string& path, const TableOptions& options) {
  text = without_byte_order_mark(text);
  std::size_t lines = 0;  // before the rows
  while (!text.empty() && is_blank_line(first_line_of(text))) {
    text.remove_prefix(std::min(first_line_of(text).size() + 1, text.size()));
    ++lines;
  }
  if (text.empty()) throw InputError(path + ": holds no rows of numbers");
  constexpr std::size_t looked_at = 4096;
  if (text.substr(0, looked_at).find('\0') != std::string_view::npos)
    throw InputError(path + ": is not a text; `data` reads CSV, LIBSVM, .npy, .npz and images");
  const CsvColumns columns(first_line_of(text), path, options);
  if (columns.header) {
    text.remove_prefix(std::min(first_line_of(text).size() + 1, text.size()));
    ++lines;
  }
  const auto pieces = cut_lines(text);
  std::vector<CsvRows> read(pieces.size(), CsvRows(columns, options));
  in_parallel(pieces.size(), std::max(1u, std::thread::hardware_concurrency()),
              [&](std::size_t k) { read[k].read(pieces[k]); });
  RawData data{.path = path, .columns = columns.names, .label = columns.label_name};
  data.shape = {static_cast<std::int64_t>(columns.inputs)};
  data.label_at = columns.label_at;
  const bool texts = std::any_of(read.begin(), read.end(),
                                 [](const CsvRows& piece) { return !piece.names.empty(); });
  for (std::size_t k = 0; k < read.size(); ++k)
    if (read[k].mistake) report(pieces, k, lines, *read[k].mistake, path);
  const auto inputs = std::make_shared<PieceRows>(columns.inputs);
  LabelMerger merger(texts);
  std::size_t row = 0;
  for (CsvRows& piece : read) {
    inputs->add(std::move(piece.inputs));
    merger.add(piece, data.labels);
    for (const std::uint32_t kept : piece.kept) data.numbers.push_back(row + kept);
    row += piece.rows;
    data.missing += piece.missing;
  }
  data.inputs = inputs;
  data.dropped = row - data.rows();
  if (data.rows() == 0)
    throw InputError(
        path + (data.dropped > 0 ? ": every row misses a number" : ": holds no rows of numbers"));
  return data;
}

}  // namespace dasgd
