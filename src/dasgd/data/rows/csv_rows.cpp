#include "dasgd/data/rows/csv_rows.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv_field.hpp"
#include "dasgd/data/rows/field_forms.hpp"
#include "dasgd/data/rows/plain_decimal.hpp"

namespace dasgd {
CsvRows::CsvRows(const CsvColumns& columns, const TableOptions& options)
    : values(columns.encodings.size()), columns_(columns), options_(options) {
  for (const int meaning : columns.meaning) {
    Column how{.number = meaning == CsvColumns::label};
    bool comma = columns.label_comma;
    if (meaning >= 0) {
      const ColumnEncoding& encoding = columns.encodings[static_cast<std::size_t>(meaning)];
      how.number = encoding.kind == ColumnEncoding::Kind::number;
      comma = encoding.decimal_comma;
    }
    how.point = comma ? ',' : '.';
    if (how.point == columns.separator) how.number = false;  // such numbers are in quotes
    reading_.push_back(how);
  }
}

void CsvRows::read(std::string_view piece) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  for (; at < end && !mistake; ++line_) {
    const char* const next = read_row(at, end);
    if (rows == 1 && !mistake)  // the others are probably as long
      inputs.reserve(columns_.encodings.size() *
                     (2 + piece.size() / static_cast<std::size_t>(next - at)));
    at = next;
  }
}

// Most fields are plain numbers: they are read in one go, without looking for their end first.
const char* CsvRows::read_row(const char* at, const char* end) {
  label_ = std::numeric_limits<double>::quiet_NaN();
  text_ = -1;
  drop_ = false;
  const std::size_t columns = reading_.size(), before = inputs.size();
  inputs.resize(before + columns_.encodings.size());
  row_ = inputs.data() + before;
  const char separator = columns_.separator;
  std::size_t column = 0;
  for (;;) {
    if (column == columns) break;
    const Column& how = reading_[column];
    double value = 0;
    const char* const after = how.number ? plain_decimal(at, end, how.point, value) : nullptr;
    if (after && (after == end || *after == separator || *after == '\n')) [[likely]] {
      take(column, value);
      at = after;
    } else {
      if (column == 0) {  // a blank line is not a row
        const char* const text = std::find_if_not(at, end, is_csv_blank);
        if (text == end || *text == '\n') {
          inputs.resize(before);
          return text == end ? end : text + 1;
        }
      }
      at = read_slowly(at, end, column);
      if (mistake) return end;
    }
    ++column;
    if (at == end || *at == '\n') break;
    ++at;
  }
  if (column != columns || (at < end && *at != '\n')) {
    const auto rest = std::string_view(at, static_cast<std::size_t>(std::find(at, end, '\n') - at));
    const auto all = column != columns ? column : columns + csv_texts(rest, separator).size();
    fail("has " + std::to_string(all) + (all == 1 ? " column; " : " columns; ") +
         std::to_string(columns) + " are expected");
    return end;
  }
  if (drop_) {
    inputs.resize(before);
  } else {
    if (columns_.has_label) {
      labels.push_back(label_);
      texts.push_back(text_);
    }
    if (options_.missing == Missing::drop) kept.push_back(static_cast<std::uint32_t>(rows));
  }
  ++rows;
  return at == end ? end : at + 1;
}

// A field that is quoted, blank, a text, or a number that takes more than the fast way.
const char* CsvRows::read_slowly(const char* at, const char* end, std::size_t column) {
  const CsvField field = scan_field(at, end, columns_.separator);
  if (field.open)
    fail("column " + std::to_string(column + 1) +
         ": its quote is not closed on this line; line breaks inside quotes are not supported");
  else
    take_text(column, field.doubled ? unquoted_.emplace_back(unquoted(field.text)) : field.text,
              field.quoted);
  return field.end;
}

void CsvRows::take(std::size_t column, double value) {
  const int meaning = columns_.meaning[column];
  if (meaning >= 0)
    row_[static_cast<std::size_t>(meaning)] = static_cast<float>(value);
  else if (meaning == CsvColumns::label)
    label_ = value;
}

void CsvRows::take_text(std::size_t column, std::string_view text, bool quoted) {
  using Kind = ColumnEncoding::Kind;
  const int meaning = columns_.meaning[column];
  if (meaning == CsvColumns::ignored) return;
  if (means_missing(text) && !(quoted && !text.empty())) return take_missing(column, text);
  if (meaning == CsvColumns::label) return take_label(column, text);
  const auto place = static_cast<std::size_t>(meaning);
  const ColumnEncoding& encoding = columns_.encodings[place];
  if (encoding.kind == Kind::category) {
    row_[place] = static_cast<float>(values[place].code(text));
  } else if (encoding.kind == Kind::boolean) {
    const auto read = read_boolean(text);
    if (!read) return fail_form(column, text, "is neither yes nor no");
    take(column, *read ? 1 : 0);
  } else if (encoding.kind == Kind::date) {
    const auto read = read_date(text, encoding.form);
    if (!read) return fail_form(column, text, "is not a " + encoding.in_words());
    take(column, read->days);
  } else if (encoding.decimal_comma) {
    const auto read = read_comma_number(text);
    if (!read) return fail_form(column, text, "is not a number with a decimal comma");
    take(column, *read);
  } else if (encoding.kind == Kind::number) {
    const auto number = row_number(text);
    if (const double* const value = std::get_if<double>(&number)) return take(column, *value);
    fail_form(column, text, std::string(in_words(std::get<NoNumber>(number))));
  }
}

void CsvRows::take_label(std::size_t column, std::string_view text) {
  const auto number = row_number(text);
  if (columns_.label_comma) {
    if (const auto value = read_comma_number(text)) return take(column, *value);
  } else if (const double* const value = std::get_if<double>(&number)) {
    return take(column, *value);
  }
  const auto* const why = std::get_if<NoNumber>(&number);
  if (options_.classes && (!why || *why == NoNumber::text)) {
    text_ = static_cast<std::int32_t>(names.code(text));
    return;
  }
  fail("column " + std::to_string(column + 1) + ": " + shown_piece(text) + " " +
       std::string(in_words(why ? *why : NoNumber::text)) +
       "; `loss` mse and huber and `model` linear need numeric labels; for classes use "
       "`loss` cross-entropy, or `model` softmax");
}

bool CsvRows::may_fill() const {
  return options_.like ? !options_.like->fill.empty() : fills(options_.missing);
}

void CsvRows::take_missing(std::size_t column, std::string_view text) {
  const int meaning = columns_.meaning[column];
  const bool label = meaning == CsvColumns::label;
  if (label && !options_.needs_labels) return;
  ++missing;
  if (options_.missing == Missing::drop) {
    drop_ = true;
    return;
  }
  if (!label && may_fill()) {
    const auto place = static_cast<std::size_t>(meaning);
    const bool category = columns_.encodings[place].kind == ColumnEncoding::Kind::category;
    row_[place] = category ? static_cast<float>(values[place].code({}))
                           : std::numeric_limits<float>::quiet_NaN();
    return;
  }
  const std::string what =
      text.empty() ? " is empty" : ": " + shown_piece(text) + " is a missing number";
  const char* const advice =
      label           ? "; `missing` drop leaves rows without a label out"
      : options_.like ? "; no number was missing in the training data: to allow it, give `missing` "
                        "mean to train"
                      : "; `missing` drop leaves such rows out, `missing` mean fills them in";
  fail("column " + std::to_string(column + 1) + what + advice);
}

void CsvRows::fail_form(std::size_t column, std::string_view text, const std::string& why) {
  const auto& encoding = columns_.encodings[static_cast<std::size_t>(columns_.meaning[column])];
  const bool may_drop = !encoding.column.empty() && !options_.like;
  fail("column " + std::to_string(column + 1) + ": " + shown_piece(text) + " " + why +
           (may_drop ? "; `exclude` " + encoding.column + " leaves the column out" : ""),
       !options_.like);
}

void CsvRows::fail(const std::string& what, bool other_form) {
  if (!mistake) mistake = CsvMistake{line_, what, other_form};
}

}  // namespace dasgd
