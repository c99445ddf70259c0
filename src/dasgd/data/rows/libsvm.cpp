#include "dasgd/data/rows/libsvm.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <variant>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/row_number.hpp"

namespace dasgd {
namespace {

constexpr std::uint32_t most_features = 100'000'000;

/// One line of the file, taken apart word by word.
class Line {
 public:
  Line(std::string_view text, const std::string& path, std::size_t number)
      : rest_(text.substr(0, text.find('#'))), path_(path), number_(number) {}

  std::optional<std::string_view> word() {
    const auto begin = rest_.find_first_not_of(" \t\r");
    if (begin == rest_.npos) return std::nullopt;
    rest_.remove_prefix(begin);
    const auto word = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(word.size());
    return word;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(path_ + ":" + std::to_string(number_) + ": " + why);
  }

  double number(std::string_view text, const char* what) const {
    const auto value = row_number(text);
    if (const auto* const why = std::get_if<NoNumber>(&value))
      fail(std::string(what) + " " + shown_piece(text) + " " + std::string(in_words(*why)));
    return std::get<double>(value);
  }

 private:
  std::string_view rest_;
  const std::string& path_;
  const std::size_t number_;
};

template <typename Add>
void read_features(Line& line, Add&& add) {
  std::uint32_t previous = 0;
  while (const auto word = line.word()) {
    const auto colon = word->find(':');
    if (colon == word->npos) line.fail(shown_piece(*word) + " is not of the form index:value");
    std::uint32_t index = 0;
    const char* const end = word->data() + colon;
    const auto parsed = std::from_chars(word->data(), end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end || index == 0)
      line.fail("index " + shown_piece(word->substr(0, colon)) + " is not a number from 1");
    if (index > most_features)
      line.fail("index " + std::to_string(index) + " is beyond the limit of " +
                std::to_string(most_features) + " features");
    if (index <= previous)
      line.fail("index " + std::to_string(index) + " follows " + std::to_string(previous) +
                "; indices must ascend");
    previous = index;
    add(index, line.number(word->substr(colon + 1), "value"));
  }
}

// The smaller of two labels becomes -1, the larger +1.
void make_labels_signed(LabelledRows& rows, const std::string& path) {
  const std::set<double> found(rows.labels.begin(), rows.labels.end());
  const std::set<double> pairs[] = {{-1, 1}, {0, 1}, {1, 2}};
  for (const auto& pair : pairs) {
    bool fits = true;
    for (const double label : found) fits = fits && pair.contains(label);
    if (!fits) continue;
    for (double& label : rows.labels) label = label == *pair.begin() ? -1 : 1;
    rows.classes = {plain_number(*pair.begin()), plain_number(*pair.rbegin())};
    return;
  }
  throw InputError(path + ": labels must be -1/+1, 0/1 or 1/2; found " +
                   std::to_string(found.size()) + " different ones, the smallest " +
                   std::to_string(*found.begin()));
}

}  // namespace

std::optional<Row> read_libsvm_line(std::string_view text, const std::string& path,
                                    std::size_t number) {
  Line line(text, path, number);
  const auto label = line.word();
  if (!label) return std::nullopt;
  Row row{.label = line.number(*label, "label")};
  read_features(line, [&](std::uint32_t index, double feature) {
    row.columns.push_back(index - 1);
    row.values.push_back(feature);
  });
  return row;
}

namespace {

LabelledRows read_sparse(const std::string& path, bool signs) {
  std::ifstream file = open_file(path);
  if (!file) throw InputError(path + ": cannot be opened; `data` needs a LIBSVM text file");
  LabelledRows rows;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    if (text.find('\0') != text.npos)
      throw InputError(path + ": is not text; `data` reads CSV, LIBSVM, .npy, .npz and images");
    Line line(number == 1 ? without_byte_order_mark(text) : text, path, number);
    const auto label = line.word();
    if (!label) continue;
    const double value = line.number(*label, "label");
    if (signs && value != -1 && value != 0 && value != 1 && value != 2)
      line.fail("label " + shown_piece(*label) + " is not -1, 0, 1 or 2");
    rows.labels.push_back(value);
    read_features(line, [&](std::uint32_t index, double feature) {
      rows.columns.push_back(index - 1);
      rows.values.push_back(feature);
      rows.dimension = std::max<std::size_t>(rows.dimension, index);
    });
    rows.row_start.push_back(rows.columns.size());
  }
  if (file.bad()) throw InputError(path + ": cannot be read; is it a file?");
  if (rows.rows() == 0) throw InputError(path + ": holds no rows");
  if (rows.dimension == 0) throw InputError(path + ": holds no features");
  return rows;
}

}  // namespace

LabelledRows read_libsvm(const std::string& path) {
  LabelledRows rows = read_sparse(path, true);
  make_labels_signed(rows, path);
  return rows;
}

LabelledRows read_libsvm_any(const std::string& path) { return read_sparse(path, false); }

RawData dense(const LabelledRows& rows, const std::string& path, std::size_t width) {
  constexpr std::size_t most_numbers = 1'000'000'000;
  if (width > 0 && rows.dimension > width)
    throw InputError(path + ": has features up to " + std::to_string(rows.dimension) +
                     "; the model takes " + std::to_string(width));
  width = std::max(width, rows.dimension);
  if (rows.rows() * width > most_numbers)
    throw InputError(path + ": has " + std::to_string(rows.rows()) + " rows of " +
                     std::to_string(width) + " features, too many with their zeros");
  std::vector<float> inputs(rows.rows() * width);
  for (std::size_t r = 0; r < rows.rows(); ++r)
    for (std::size_t k = rows.row_start[r]; k < rows.row_start[r + 1]; ++k)
      inputs[r * width + rows.columns[k]] = static_cast<float>(rows.values[k]);
  RawData data{.path = path, .shape = {static_cast<std::int64_t>(width)}};
  data.inputs = std::make_shared<FloatRows>(std::move(inputs), width);
  data.labels.values = rows.labels;
  return data;
}

}  // namespace dasgd
