#include "dasgd/data/rows/csv_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dasgd/base/files/mapped_file.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/base/utf8.hpp"
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
  void copy(std::size_t at, std::span<float> to) const override {
    const std::span<const float> from = row(at);
    std::copy(from.begin(), from.end(), to.begin());
  }
  std::span<const float> row(std::size_t at) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), at);
    const auto k = static_cast<std::size_t>(after - first_.begin()) - 1;
    return std::span(pieces_[k]).subspan((at - first_[k]) * width_, width_);
  }

 private:
  const std::size_t width_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> first_;  // row of each piece
  std::vector<std::vector<float>> pieces_;
};

/// The same as models take them: categories and dates become several numbers when a row is copied.
class EncodedRows final : public NumberRows {
 public:
  EncodedRows(std::shared_ptr<const PieceRows> kept, std::vector<ColumnEncoding> columns)
      : kept_(std::move(kept)), columns_(std::move(columns)), width_(width_of(columns_)) {}

  std::size_t rows() const override { return kept_->rows(); }
  std::size_t width() const override { return width_; }
  void copy(std::size_t row, std::span<float> to) const override {
    const std::span<const float> kept = kept_->row(row);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t width = columns_[c].width();
      columns_[c].expand(kept[c], to.first(width));
      to = to.subspan(width);
    }
  }

 private:
  const std::shared_ptr<const PieceRows> kept_;
  const std::vector<ColumnEncoding> columns_;
  const std::size_t width_;
};

/// Numbers and texts of all pieces become labels of one kind.
class LabelMerger {
 public:
  explicit LabelMerger(bool texts) : texts_(texts) {}

  void add(const CsvRows& piece, Labels& to) {
    std::vector<double> of_piece;
    for (const auto& entry : piece.names.entries())
      of_piece.push_back(place_of(std::string(entry.text), to));
    for (std::size_t r = 0; r < piece.labels.size(); ++r) {
      if (!texts_ || (piece.texts[r] < 0 && std::isnan(piece.labels[r]))) {
        to.values.push_back(piece.labels[r]);
      } else {
        to.values.push_back(piece.texts[r] < 0
                                ? place_of(plain_number(piece.labels[r]), to)
                                : of_piece[static_cast<std::size_t>(piece.texts[r])]);
      }
    }
  }

 private:
  double place_of(const std::string& name, Labels& to) {
    const auto [at, is_new] = place_of_.emplace(name, to.names.size());
    if (is_new) to.names.push_back(name);
    return static_cast<double>(at->second);
  }

  const bool texts_;
  std::unordered_map<std::string, std::size_t> place_of_;
};

[[noreturn]] void report(const std::vector<std::string_view>& pieces, std::size_t at,
                         std::size_t before, const CsvMistake& mistake, const std::string& path) {
  std::size_t line = before + mistake.line + 1;
  for (std::size_t k = 0; k < at; ++k)
    line += static_cast<std::size_t>(std::count(pieces[k].begin(), pieces[k].end(), '\n'));
  throw InputError(path + ":" + std::to_string(line) + ": " + mistake.what);
}

std::vector<CsvRows> read_pieces(const std::vector<std::string_view>& pieces,
                                 const CsvColumns& columns, const TableOptions& options) {
  std::vector<CsvRows> read(pieces.size(), CsvRows(columns, options));
  in_parallel(pieces.size(), std::max(1u, std::thread::hardware_concurrency()),
              [&](std::size_t k) { read[k].read(pieces[k]); });
  return read;
}

// The values of a category, the most frequent first; those of a model are there already.
void find_values(ColumnEncoding& encoding, const std::vector<CsvRows>& read, std::size_t column) {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const CsvRows& piece : read)
    for (const auto& [text, count] : piece.values[column].entries()) counts[text] += count;
  if (encoding.fill_most_frequent) counts.erase(std::string_view());
  std::vector<std::pair<std::string_view, std::size_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (sorted.size() > ColumnEncoding::most_values) {
    sorted.resize(ColumnEncoding::most_values);
    encoding.hashed = ColumnEncoding::hash_places;
  }
  for (const auto& [text, count] : sorted) encoding.values.emplace_back(text);
}

// What pieces have counted becomes places among the values. Returns the texts that have none.
std::size_t place_values(const ColumnEncoding& encoding, std::vector<CsvRows>& read,
                         std::size_t column, std::size_t width) {
  std::vector<std::size_t> unknown(read.size());
  in_parallel(read.size(), std::max(1u, std::thread::hardware_concurrency()), [&](std::size_t k) {
    std::vector<float> places;
    for (const auto& [text, count] : read[k].values[column].entries()) {
      places.push_back(static_cast<float>(encoding.place_of(text)));
      const bool known =
          places.back() >= 0 && places.back() < static_cast<float>(encoding.values.size());
      if (!text.empty() && !known) unknown[k] += count;
    }
    std::vector<float>& inputs = read[k].inputs;
    for (std::size_t at = column; at < inputs.size(); at += width)
      inputs[at] = places[static_cast<std::size_t>(inputs[at])];
  });
  return std::accumulate(unknown.begin(), unknown.end(), std::size_t{0});
}

void require_utf8(const std::vector<std::string>& texts, const std::string& column,
                  const std::string& path) {
  for (const std::string& text : texts)
    if (!is_utf8(text))
      throw InputError(
          path + ": column " + shown_piece(column) +
          " has a text that is not UTF-8; convert the file, for example with: iconv -f "
          "latin1 -t UTF-8");
}

void encode(RawData& data, std::vector<CsvRows>& read, CsvColumns& columns, bool like) {
  const std::size_t width = columns.encodings.size();
  for (std::size_t c = 0; c < width; ++c) {
    ColumnEncoding& encoding = columns.encodings[c];
    if (encoding.kind != ColumnEncoding::Kind::category) continue;
    if (!like) find_values(encoding, read, c);
    require_utf8(encoding.values, encoding.column, data.path);
    const std::size_t unknown = place_values(encoding, read, c, width);
    if (like && unknown > 0) data.unknown.emplace_back(encoding.column, unknown);
  }
}

// Returns the blank lines before the first line that is not blank.
std::size_t skip_to_text(std::string_view& text, const std::string& path) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(path + ": is UTF-16; save it as UTF-8, or use: iconv -f UTF-16 -t UTF-8");
  text = without_byte_order_mark(text);
  std::size_t lines = 0;
  while (!text.empty() && is_blank_line(first_line_of(text))) {
    text.remove_prefix(std::min(first_line_of(text).size() + 1, text.size()));
    ++lines;
  }
  if (text.empty()) throw InputError(path + ": holds no rows");
  constexpr std::size_t looked_at = 4096;
  if (text.substr(0, looked_at).find('\0') != std::string_view::npos)
    throw InputError(
        path +
        ": is not text: it contains a NUL byte; `data` reads CSV, LIBSVM, .npy, .npz and images");
  return lines;
}

RawData merge(std::vector<CsvRows> read, CsvColumns columns, const std::string& path,
              const TableOptions& options) {
  RawData data{.path = path, .label = columns.label_name};
  data.label_at = columns.label_at;
  data.label_comma = columns.label_comma;
  data.note = columns.note;
  encode(data, read, columns, options.like);
  const auto kept = std::make_shared<PieceRows>(columns.encodings.size());
  const bool texts = std::any_of(read.begin(), read.end(), [](const CsvRows& piece) {
    return !piece.names.entries().empty();
  });
  LabelMerger merger(texts);
  std::size_t row = 0;
  for (CsvRows& piece : read) {
    kept->add(std::move(piece.inputs));
    merger.add(piece, data.labels);
    for (const std::uint32_t of_piece : piece.kept) data.numbers.push_back(row + of_piece);
    row += piece.rows;
    data.missing += piece.missing;
  }
  require_utf8(data.labels.names, data.label, path);
  if (columns.header) data.columns = input_names_of(columns.encodings);
  data.inputs = kept;
  if (!columns.plain()) {
    data.inputs = std::make_shared<EncodedRows>(kept, columns.encodings);
    data.encoding = std::move(columns.encodings);
  }
  data.shape = {static_cast<std::int64_t>(data.inputs->width())};
  data.dropped = row - data.rows();
  if (data.rows() == 0)
    throw InputError(path +
                     (data.dropped > 0 ? ": all rows have missing values" : ": holds no rows"));
  return data;
}

}  // namespace

RawData read_csv(const std::string& path, const TableOptions& options) {
  const MappedFile file(path);
  file.expect_sequential();
  return read_csv(file.bytes(), path, options);
}

RawData read_csv(std::string_view text, const std::string& path, const TableOptions& options) {
  std::size_t lines = skip_to_text(text, path);  // before the rows
  const char separator = find_separator(text);
  CsvColumns columns(text, separator, path, options);
  if (columns.header) {
    text.remove_prefix(std::min(first_line_of(text).size() + 1, text.size()));
    ++lines;
  }
  const auto pieces = cut_lines(text);
  const auto learn = [&](bool all) {
    CsvProfile profile = profile_csv(text, separator, columns.meaning.size(), all);
    // What differs in some parts of the file may well be the same in others.
    if (profile.sampled && columns.leaves_out(profile))
      profile = profile_csv(text, separator, columns.meaning.size(), true);
    columns.learn(profile, path, options.missing == Missing::most_frequent);
  };
  if (!options.like) learn(false);
  std::vector<CsvRows> read = read_pieces(pieces, columns, options);
  const auto asks_again = [](const CsvRows& p) { return p.mistake && p.mistake->other_form; };
  if (std::any_of(read.begin(), read.end(),
                  asks_again)) {  // the sampled parts of the file were not enough
    learn(true);
    read = read_pieces(pieces, columns, options);
  }
  for (std::size_t k = 0; k < read.size(); ++k)
    if (read[k].mistake) report(pieces, k, lines, *read[k].mistake, path);
  return merge(std::move(read), std::move(columns), path, options);
}

CsvOverview look_at_csv(const std::string& path) {
  const MappedFile file(path);
  file.expect_sequential();
  std::string_view text = file.bytes();
  CsvOverview found;
  found.lines_before = skip_to_text(text, path);
  found.separator = find_separator(text);
  const std::vector<std::string> first = csv_texts(first_line_of(text), found.separator);
  found.empty_end =
      first.size() > 1 && first.back().empty() && last_column_is_empty(text, found.separator);
  if (auto names = names_of(first)) {
    found.names = std::move(*names);
    text.remove_prefix(std::min(first_line_of(text).size() + 1, text.size()));
    ++found.lines_before;
  }
  found.profile = profile_csv(text, found.separator, first.size(), true);
  if (found.empty_end) found.profile.columns.pop_back();
  return found;
}

}  // namespace dasgd
