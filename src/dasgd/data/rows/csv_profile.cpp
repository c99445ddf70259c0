#include "dasgd/data/rows/csv_profile.hpp"

#include <algorithm>
#include <thread>

#include "dasgd/base/parallel.hpp"
#include "dasgd/data/rows/csv_field.hpp"

namespace dasgd {
namespace {

constexpr double nearly_all = 0.95, mostly_distinct = 0.9;
constexpr std::size_t fewest_for_that = 100;
constexpr std::size_t sample_pieces = 8, sample_bytes = std::size_t{256} << 10;
constexpr std::size_t profile_bytes = std::size_t{1} << 20;
constexpr std::size_t looked_ahead = 8;  // texts, so that their places come from memory in time

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

/// Fields of a piece are counted before anybody asks what they are: most occur often. That is done
/// column by column, whose texts stay close by. The memory of one piece serves the next.
class PieceProfile {
 public:
  explicit PieceProfile(std::size_t columns) : columns_(columns), row_(columns + 1) {}

  /// Columns that are not `counted` are looked at field by field.
  void read(std::string_view text, char separator, const std::vector<bool>& counted) {
    found_ = {};
    found_.columns.resize(columns_.size());
    lines_.clear();
    unquoted_.clear();
    for (Column& column : columns_) {
      column.fields.clear();
      column.texts.clear();
    }
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) at = read_line(at, end, separator);
    for (std::size_t c = 0; c < columns_.size(); ++c) add_column(c, counted[c]);
  }

  const CsvProfile& found() const { return found_; }
  const TextCodes& texts(std::size_t column) const { return columns_[column].texts; }

 private:
  struct Column {
    std::vector<std::string_view> fields;  // an empty one is missing
    TextCodes texts;
    std::vector<std::size_t> first_lines;  // of each of these
  };

  const char* read_line(const char* at, const char* end, char separator) {
    const char* const begin = at;
    std::size_t count = 0;
    for (;; ++at) {
      const CsvField field = scan_field(at, end, separator);
      row_[std::min(count++, columns_.size())] = field;
      at = field.end;
      if (at == end || *at == '\n') break;
    }
    const std::size_t line = found_.lines++;
    const bool blank = row_[0].text.empty() && std::all_of(begin, at, is_csv_blank);
    if (!blank && count == columns_.size()) {
      ++found_.rows;
      lines_.push_back(line);
      for (std::size_t c = 0; c < count; ++c) columns_[c].fields.push_back(text_of(row_[c]));
    } else if (!blank && found_.odd_rows++ == 0) {
      found_.odd_line = line;
    }
    return at == end ? end : at + 1;
  }

  std::string_view text_of(const CsvField& field) {
    if (field.doubled) return unquoted_.emplace_back(unquoted(field.text));
    return !field.quoted && means_missing(field.text) ? std::string_view() : field.text;
  }

  void add_column(std::size_t at, bool counted) {
    auto& [fields, texts, first_lines] = columns_[at];
    ColumnProfile& found = found_.columns[at];
    first_lines.clear();
    for (std::size_t r = 0; r < fields.size(); ++r) {
      if (r + looked_ahead < fields.size()) texts.prefetch(fields[r + looked_ahead]);
      if (fields[r].empty())
        ++found.missing;
      else if (!counted)
        found.add(fields[r], lines_[r], 1);
      else if (texts.code(fields[r]) == first_lines.size())
        first_lines.push_back(lines_[r]);
    }
    for (std::size_t k = 0; k < texts.size(); ++k)
      found.add(texts.entries()[k].text, first_lines[k], texts.entries()[k].count);
  }

  CsvProfile found_;
  std::vector<Column> columns_;
  std::vector<CsvField> row_;       // of the line; the last: all beyond
  std::vector<std::size_t> lines_;  // of each row
  std::deque<std::string> unquoted_;
};

}  // namespace

void ColumnProfile::Range::add(double value, std::size_t times_more) {
  least = std::min(least, value);
  most = std::max(most, value);
  sum += value * static_cast<double>(times_more);
}

void ColumnProfile::add(std::string_view field, std::size_t line, std::size_t times_more) {
  const FieldForms forms = forms_of(field);
  for (std::size_t k = 0; k < field_forms; ++k) {
    const bool stray = k == 0 ? !forms.point : !forms.fits[k];
    if (stray && strays[k].text.empty()) strays[k] = {std::string(field.substr(0, 80)), line};
    if (forms.fits[k]) fits[k] += times_more;
  }
  present += times_more;
  if (forms.point)
    points.add(*forms.point, times_more);
  else if (forms.has(FieldForm::number))
    endless += times_more;
  if (forms.comma) commas.add(*forms.comma, times_more);
  if (forms.comma && !forms.has(FieldForm::number)) with_comma += times_more;
  if (forms.time) times += times_more;
}

void ColumnProfile::count(const TextCodes& later) {
  const auto keep = [this](std::string_view text) -> std::string_view {
    return texts_.emplace_back(text);
  };
  for (std::size_t k = 0; k < later.size(); ++k) {
    if (k + looked_ahead < later.size()) values.prefetch(later.entries()[k + looked_ahead].text);
    const auto& [text, times_more] = later.entries()[k];
    if (values.size() == most_counted && values.find(text) == TextCodes::none) {
      more_values = true;
    } else {
      counted += times_more;
      values.code(text, times_more, keep);
    }
  }
}

void ColumnProfile::add(const ColumnProfile& later, std::size_t lines_before) {
  present += later.present;
  missing += later.missing;
  endless += later.endless;
  for (std::size_t k = 0; k < field_forms; ++k) {
    fits[k] += later.fits[k];
    if (strays[k].text.empty())
      strays[k] = {later.strays[k].text, lines_before + later.strays[k].line};
  }
  with_comma += later.with_comma;
  times += later.times;
  for (const auto& [to, from] : {std::pair(&points, &later.points), {&commas, &later.commas}}) {
    to->least = std::min(to->least, from->least);
    to->most = std::max(to->most, from->most);
    to->sum += from->sum;
  }
}

std::string ColumnProfile::like_thousands() const {
  std::string found;
  for (const auto& value : values.entries()) {
    std::string_view text = value.text;
    if (text.find(',') == text.npos) continue;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const std::size_t first = text.find(',');
    if (first == 0 || first > 3 || text[0] == '0') return "";
    for (std::size_t at = first; at < text.size(); at += 4)
      if (text[at] != ',' || at + 4 > text.size() || text.substr(at + 1, 3).find(',') != text.npos)
        return "";
    if (found.empty()) found = value.text;
  }
  return found;
}

bool ColumnProfile::has_dates() const {
  const std::size_t dates =
      fitting(FieldForm::year_month_day) +
      std::max(fitting(FieldForm::day_month_year), fitting(FieldForm::month_day_year));
  return static_cast<double>(dates) >= nearly_all * static_cast<double>(present) && dates > 0;
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
  whole.sampled = !all && pieces.size() > 1;
  std::vector<bool> counted(columns, true);
  // Pieces are added in their order, a few at a time: what they count takes memory.
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::deque<PieceProfile> found;
  while (found.size() < std::min(cores, pieces.size())) found.emplace_back(columns);
  for (std::size_t first = 0; first < pieces.size(); first += cores) {
    const std::size_t count = std::min(cores, pieces.size() - first);
    in_parallel(count, static_cast<unsigned>(cores),
                [&](std::size_t k) { found[k].read(pieces[first + k], separator, counted); });
    for (std::size_t k = 0; k < count; ++k) {
      whole.add(found[k].found());
      for (std::size_t c = 0; c < columns; ++c) whole.columns[c].count(found[k].texts(c));
    }
    for (std::size_t c = 0; c < columns; ++c) {  // nobody asks how often a number occurs
      const ColumnProfile& column = whole.columns[c];
      counted[c] = !column.more_values || column.fitting(FieldForm::number) < column.present;
    }
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
