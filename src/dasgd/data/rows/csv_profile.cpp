#include "dasgd/data/rows/csv_profile.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <thread>

#include "dasgd/base/parallel.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv_columns.hpp"

namespace dasgd {
namespace {

constexpr double nearly_all = 0.95, mostly_distinct = 0.9;
constexpr std::size_t fewest_for_that = 100;
constexpr std::size_t sample_pieces = 8, sample_bytes = std::size_t{256} << 10;
constexpr std::size_t profile_bytes = std::size_t{4} << 20;

std::size_t after_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

std::vector<std::string_view> sampled_pieces(std::string_view text) {
  if (text.size() <= sample_pieces * sample_bytes) return {text};
  std::vector<std::string_view> pieces;
  for (std::size_t k = 0; k < sample_pieces; ++k) {
    const std::size_t around = k * (text.size() - sample_bytes) / (sample_pieces - 1);
    const std::size_t begin = around == 0 ? 0 : after_line(text, around - 1);
    if (begin == text.size()) continue;
    const std::size_t end = after_line(text, std::min(begin + sample_bytes, text.size()) - 1);
    pieces.push_back(text.substr(begin, end - begin));
  }
  return pieces;
}

std::vector<std::string_view> all_pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = after_line(text, std::min(at + profile_bytes, text.size()) - 1);
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

CsvProfile profile_piece(std::string_view text, char separator, std::size_t columns) {
  CsvProfile found;
  found.columns.resize(columns);
  while (!text.empty()) {
    const std::size_t end = after_line(text, 0);
    const std::string_view line = text.substr(0, text[end - 1] == '\n' ? end - 1 : end);
    text.remove_prefix(end);
    const std::size_t number = found.lines++;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const std::vector<std::string> fields = csv_texts(line, separator);
    if (fields.size() != columns) {
      if (found.odd_rows++ == 0) found.odd_line = number;
      continue;
    }
    ++found.rows;
    for (std::size_t c = 0; c < columns; ++c) found.columns[c].add(fields[c], number);
  }
  return found;
}

}  // namespace

void ColumnProfile::Range::add(double value) {
  least = std::min(least, value);
  most = std::max(most, value);
  sum += value;
}

void ColumnProfile::add(std::string_view field, std::size_t line) {
  if (means_missing(field)) {
    ++missing;
    return;
  }
  ++present;
  const auto forms = forms_of(field);
  for (std::size_t k = 0; k < field_forms; ++k) fits[k] += forms[k] ? 1 : 0;
  const auto fitting = [&](FieldForm form) { return forms[static_cast<std::size_t>(form)]; };
  if (fitting(FieldForm::number)) {
    const auto read = row_number(field);
    if (const double* const value = std::get_if<double>(&read)) points.add(*value);
  } else if (present - fits[0] == 1) {
    stray = field.substr(0, 80);
    stray_line = line;
  }
  if (fitting(FieldForm::comma_number)) {
    commas.add(*read_comma_number(field));
    with_comma += fitting(FieldForm::number) ? 0 : 1;
  }
  for (const DateForm form :
       {DateForm::year_month_day, DateForm::day_month_year, DateForm::month_day_year})
    if (const auto date = read_date(field, form)) {
      times += date->time ? 1 : 0;
      break;
    }
  count(std::string(field), 1);
}

void ColumnProfile::count(const std::string& text, std::size_t times_more) {
  const auto at = values.find(text);
  if (at == values.end() && values.size() == most_counted) {
    more_values = true;
    return;
  }
  counted += times_more;
  if (at == values.end())
    values.emplace(text, times_more);
  else
    at->second += times_more;
}

void ColumnProfile::add(const ColumnProfile& later, std::size_t lines_before) {
  if (present == fits[0] && later.present > later.fits[0]) {
    stray = later.stray;
    stray_line = lines_before + later.stray_line;
  }
  present += later.present;
  missing += later.missing;
  for (std::size_t k = 0; k < field_forms; ++k) fits[k] += later.fits[k];
  with_comma += later.with_comma;
  times += later.times;
  for (const auto& [to, from] : {std::pair(&points, &later.points), {&commas, &later.commas}}) {
    to->least = std::min(to->least, from->least);
    to->most = std::max(to->most, from->most);
    to->sum += from->sum;
  }
  more_values = more_values || later.more_values;
  for (const auto& [text, times_more] : later.values) count(text, times_more);
}

bool CsvProfile::decimal_commas() const {
  return std::any_of(columns.begin(), columns.end(), [](const ColumnProfile& c) {
    return c.with_comma > 0 && c.fitting(FieldForm::comma_number) == c.present;
  });
}

void CsvProfile::add(const CsvProfile& later) {
  if (odd_rows == 0) odd_line = lines + later.odd_line;
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c].add(later.columns[c], lines);
  rows += later.rows;
  odd_rows += later.odd_rows;
  lines += later.lines;
}

CsvProfile profile_csv(std::string_view text, char separator, std::size_t columns, bool all) {
  const auto pieces = all ? all_pieces(text) : sampled_pieces(text);
  CsvProfile whole;
  whole.columns.resize(columns);
  // Pieces are added in their order, a few at a time: what they count takes memory.
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t first = 0; first < pieces.size(); first += cores) {
    const std::size_t count = std::min(cores, pieces.size() - first);
    std::vector<CsvProfile> found(count);
    in_parallel(count, static_cast<unsigned>(cores), [&](std::size_t k) {
      found[k] = profile_piece(pieces[first + k], separator, columns);
    });
    for (const CsvProfile& piece : found) whole.add(piece);
  }
  return whole;
}

ColumnEncoding choose_encoding(const ColumnProfile& column, bool commas, const std::string& name) {
  using Kind = ColumnEncoding::Kind;
  ColumnEncoding chosen{.column = name};
  if (column.present == 0) return chosen;
  const auto share = [&](FieldForm form) {
    return static_cast<double>(column.fitting(form)) / static_cast<double>(column.present);
  };
  std::vector<FieldForm> order{FieldForm::number,         FieldForm::comma_number,
                               FieldForm::boolean,        FieldForm::year_month_day,
                               FieldForm::day_month_year, FieldForm::month_day_year};
  if (commas) std::swap(order[0], order[1]);
  const auto best = std::max_element(order.begin(), order.end(),
                                     [&](FieldForm a, FieldForm b) { return share(a) < share(b); });
  if (share(*best) < nearly_all) {
    const bool of_their_own = static_cast<double>(column.values.size()) >
                              mostly_distinct * static_cast<double>(column.counted);
    chosen.kind =
        column.present >= fewest_for_that && of_their_own ? Kind::left_out : Kind::category;
    return chosen;
  }
  chosen.time = column.times > 0;
  switch (*best) {
    case FieldForm::number:
      break;
    case FieldForm::comma_number:  // whole numbers need none
      chosen.decimal_comma = column.fitting(FieldForm::number) < column.present ||
                             column.points.sum != column.commas.sum;
      break;
    case FieldForm::boolean:
      chosen.kind = Kind::boolean;
      break;
    case FieldForm::year_month_day:
    case FieldForm::day_month_year:
    case FieldForm::month_day_year:
      chosen.kind = Kind::date;
      chosen.form = static_cast<DateForm>(static_cast<int>(*best) -
                                          static_cast<int>(FieldForm::year_month_day));
      break;
  }
  return chosen;
}

}  // namespace dasgd
