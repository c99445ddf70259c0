#include "dasgd/data/rows/row_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv.hpp"
#include "dasgd/data/rows/libsvm.hpp"

namespace dasgd {
namespace {

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names{"csv", "libsvm"};
  return names;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == text.npos; }

}  // namespace

RowFormat parse_row_format(const std::string& text) {
  const auto at = std::find(format_names().begin(), format_names().end(), text);
  if (at == format_names().end())
    throw InputError("unknown format \"" + text + "\"" + suggestion(text, format_names()));
  return static_cast<RowFormat>(at - format_names().begin());
}

std::string to_string(RowFormat format) { return format_names()[static_cast<std::size_t>(format)]; }

RowText::RowText(std::string name, std::optional<RowFormat> format,
                 std::optional<std::size_t> features)
    : name_(std::move(name)), format_(format), features_(features) {}

std::optional<Row> RowText::read(std::string_view line) {
  if (++line_ == 1) line = without_byte_order_mark(line);
  const auto content = line.substr(0, line.find('#'));
  if (is_blank(content)) return std::nullopt;
  if (!format_) format_ = content.find(',') == content.npos ? RowFormat::libsvm : RowFormat::csv;
  return *format_ == RowFormat::csv ? read_csv(line) : read_libsvm(line);
}

void RowText::settle_features() {
  if (features_) return;
  if (largest_ == 0) throw InputError(name_ + ": its first rows hold no features");
  features_ = largest_;
  learned_ = true;
}

InputError RowText::mistake(const std::string& why) const {
  return InputError(name_ + ":" + std::to_string(line_) + ": " + why);
}

std::optional<Row> RowText::read_csv(std::string_view line) {
  auto [values, wrong, is_text] = csv_fields(line);
  if (!std::exchange(csv_begun_, true) && is_text) return std::nullopt;  // a header
  if (!wrong.empty()) throw mistake(wrong);
  if (values.size() < 2) throw mistake("has one column; at least one and a label are needed");
  if (!features_) features_ = values.size() - 1;
  if (values.size() - 1 != *features_)
    throw mistake("has " + std::to_string(values.size()) + " columns; " +
                  std::to_string(*features_ + 1) + " are expected, the last for the label");
  Row row{.label = values.back(), .dense = true};
  values.pop_back();
  row.values = std::move(values);
  return row;
}

std::optional<Row> RowText::read_libsvm(std::string_view line) {
  auto row = read_libsvm_line(line, name_, line_);
  if (!row || row->columns.empty()) return row;
  const std::size_t index = row->columns.back() + std::size_t{1};
  largest_ = std::max(largest_, index);
  if (features_ && index > *features_)
    throw mistake("index " + std::to_string(index) + " is beyond the " +
                  std::to_string(*features_) + " features" +
                  (learned_ ? " of the first rows; give `features` D" : ""));
  return row;
}

}  // namespace dasgd
