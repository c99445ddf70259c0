#include "dasgd/data/rows/csv_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/field_forms.hpp"

namespace dasgd {
namespace {

constexpr std::array<double, 23> powers_of_ten{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct Digits {
  std::uint64_t value = 0;
  unsigned count = 0;
};

// The digits at the front of eight bytes, read all at once: no branch depends on how many there
// are.
Digits digits_of_eight(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  bytes ^= 0x3030303030303030;  // digits become 0 to 9
  const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
  const auto count = others == 0 ? 8u : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {};
  bytes <<= 8 * (8 - count);  // zeros come first
  bytes = bytes * 10 + (bytes >> 8);
  constexpr std::uint64_t every_fourth = 0x000000FF000000FF;
  const std::uint64_t value = ((bytes & every_fourth) * 0x000F424000000064 +
                               ((bytes >> 16) & every_fourth) * 0x0000271000000001) >>
                              32;
  return {value, count};
}

double scaled(std::uint64_t digits, std::size_t after_point, bool negative) {
  const double exact = static_cast<double>(digits);
  const double magnitude = after_point == 0 ? exact : exact / powers_of_ten[after_point];
  return negative ? -magnitude : magnitude;
}

// A plain decimal number with up to 15 digits: then both the digits and the power of ten are exact
// doubles, and one division rounds as it should. Returns where it ends; null for anything else,
// which is read slowly.
const char* plain_decimal_by_bytes(const char* at, const char* end, char point, double& value) {
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const auto take_digits = [&] {
    const char* const first = at;
    while (at < end && static_cast<unsigned>(*at - '0') < 10)
      digits = digits * 10 + static_cast<unsigned>(*at++ - '0');
    return static_cast<std::size_t>(at - first);
  };
  const std::size_t before_point = take_digits();
  std::size_t after_point = 0;
  if (at < end && *at == point) {
    ++at;
    after_point = take_digits();
  }
  const std::size_t count = before_point + after_point;
  if (count == 0 || count > 15) return nullptr;
  value = scaled(digits, after_point, negative);
  return at;
}

// The same for numbers with fewer than eight digits on either side of the point, which most are.
const char* plain_decimal(const char* at, const char* end, char point, double& value) {
  constexpr std::ptrdiff_t looked_at = 1 + 8 + 8;
  if (end - at < looked_at) return plain_decimal_by_bytes(at, end, point, value);
  const char* const begin = at;
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  const Digits whole = digits_of_eight(at);
  at += whole.count;
  if (*at != point) {
    if (whole.count == 0 || whole.count == 8)
      return plain_decimal_by_bytes(begin, end, point, value);
    value = scaled(whole.value, 0, negative);
    return at;
  }
  const Digits part = digits_of_eight(at + 1);
  if (whole.count == 8 || part.count == 8 || whole.count + part.count == 0)
    return plain_decimal_by_bytes(begin, end, point, value);
  value = scaled(whole.value * static_cast<std::uint64_t>(powers_of_ten[part.count]) + part.value,
                 part.count, negative);
  return at + 1 + part.count;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

CsvRows::CsvRows(const CsvColumns& columns, const TableOptions& options)
    : values(columns.encodings.size()), columns_(columns), options_(options) {
  using Kind = ColumnEncoding::Kind;
  for (const int meaning : columns.meaning) {
    Column how;
    if (meaning == CsvColumns::ignored) {
      how.text = true;
    } else if (meaning == CsvColumns::label) {
      how.number = true;
      how.point = columns.label_comma ? ',' : '.';
    } else {
      const ColumnEncoding& encoding = columns.encodings[static_cast<std::size_t>(meaning)];
      how.number = encoding.kind == Kind::number;
      how.text = encoding.kind == Kind::category || encoding.kind == Kind::left_out;
      how.point = encoding.decimal_comma ? ',' : '.';
    }
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
      if (column == 0) {  // a blank line is none
        const char* const text = std::find_if_not(at, end, is_space);
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
  const char separator = columns_.separator;
  const char* begin = at;
  while (begin < end && is_space(*begin) && *begin != separator) ++begin;
  const bool quoted = begin < end && *begin == '"';
  const auto find_end = [&](const char* from) {
    while (from < end && *from != separator && *from != '\n') ++from;
    return from;
  };
  if (!quoted) {
    const char* const field_end = find_end(begin);
    const char* last = field_end;
    while (last > begin && is_space(last[-1])) --last;
    take_text(column, {begin, static_cast<std::size_t>(last - begin)}, false);
    return field_end;
  }
  const char* k = ++begin;
  bool doubled = false;
  for (; k < end && *k != '\n'; ++k) {
    if (*k != '"') continue;
    if (k + 1 == end || k[1] != '"') break;
    doubled = true;
    ++k;
  }
  if (k == end || *k == '\n') {
    fail("column " + std::to_string(column + 1) + ": its quote is not closed on this line");
    return end;
  }
  std::string_view text(begin, static_cast<std::size_t>(k - begin));
  if (doubled) {
    std::string& plain = unquoted_.emplace_back();
    for (const char* c = begin; c < k; ++c) {
      plain += *c;
      if (*c == '"') ++c;
    }
    text = plain;
  }
  take_text(column, text, true);
  return find_end(k);
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
    if (!read) return fail_form(column, text, "is no " + encoding.in_words());
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
  if (label && options_.like) return;  // nobody asks for it
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
      options_.like ? "; the model was trained without missing numbers, not with `missing` mean"
      : label       ? "; `missing` drop leaves rows without a label out"
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
