#include "dasgd/data/rows/csv_columns.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv_field.hpp"

namespace dasgd {
namespace {

// Texts that read as something else than a text are not in a header.
bool is_value(const std::string& field) {
  if (is_number(field)) return true;
  const FieldForms forms = forms_of(field);
  return forms.has(FieldForm::comma_number) || forms.is_date();
}

std::size_t find_name(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::string first_of(const std::vector<std::string>& fields) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t k = 0; k < std::min(most, fields.size()); ++k)
    text += (k > 0 ? ", " : "") + shown_piece(fields[k]);
  return text + (fields.size() > most ? ", ..." : "");
}

// 2019, 2020, 2021, or 0, 1, 2 of a program that numbers columns: more often names than a row.
bool count_upwards(const std::vector<std::string>& fields) {
  constexpr std::ptrdiff_t fewest = 3;
  std::vector<std::int64_t> numbers;
  for (const std::string& field : fields) {
    std::int64_t number = 0;
    const char* const end = field.data() + field.size();
    if (const auto read = std::from_chars(field.data(), end, number);
        read.ptr == end && !field.empty())
      numbers.push_back(number);
  }
  const auto others = std::ssize(fields) - std::ssize(numbers);  // the name of the label
  const auto is_next = [](std::int64_t a, std::int64_t b) { return b != a + 1; };
  return std::ssize(numbers) >= fewest && others <= 1 &&
         std::ranges::adjacent_find(numbers, is_next) == numbers.end();
}

// The place of the column that a person calls `wanted` in a setting.
std::size_t find_column(const std::vector<std::string>& fields, bool header,
                        const std::string& setting, const std::string& wanted,
                        const std::string& path) {
  const std::string asked = "`" + setting + "` " + wanted + ": " + path;
  if (header)
    if (const std::size_t at = find_name(fields, wanted); at < fields.size()) return at;
  std::size_t number = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto read = std::from_chars(wanted.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end) {
    if (number >= 1 && number <= fields.size()) return number - 1;
    throw InputError(asked + " has columns 1 to " + std::to_string(fields.size()));
  }
  if (!header) throw InputError(asked + " has no header with names; give the number of a column");
  const std::string near = nearest_word(wanted, fields);
  throw InputError(asked + " has no column of that name" +
                   (near.empty() ? "; its columns are " + first_of(fields)
                                 : "; did you mean " + shown_piece(near) + "?"));
}

// "id", "id,date" or 1: a name that holds commas is found first.
std::vector<std::size_t> find_columns(const std::vector<std::string>& fields, bool header,
                                      const std::string& wanted, const std::string& path) {
  std::vector<std::string> names;
  if (find_name(fields, wanted) < fields.size())
    names = {wanted};
  else
    for (const std::string& name : csv_texts(wanted, ',')) names.push_back(name);
  std::vector<std::size_t> places;
  for (const std::string& name : names)
    places.push_back(find_column(fields, header, "exclude", name, path));
  return places;
}

}  // namespace

std::vector<std::string> csv_texts(std::string_view line, char separator) {
  std::vector<std::string> fields;
  const char* const end = line.data() + line.size();
  for (const char* at = line.data();; ++at) {
    const CsvField field = scan_field(at, end, separator);
    fields.push_back(field.doubled ? unquoted(field.text) : std::string(field.text));
    at = field.end;
    if (at == end) return fields;
  }
}

bool last_column_is_empty(std::string_view text, char separator) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t last = line.find_last_not_of(separator == '\t' ? " \r" : " \t\r");
    if (last != line.npos && line[last] != separator) return false;
  }
  return true;
}

std::optional<std::vector<std::string>> names_of(std::vector<std::string> fields) {
  if (std::any_of(fields.begin(), fields.end(), is_value)) return std::nullopt;
  std::set<std::string> taken;
  std::map<std::string, int> numbers;  // the last that was given to a name
  for (std::string& name : fields) {
    const std::string plain = name;
    int& number = numbers.emplace(plain, 1).first->second;
    while (!taken.insert(name).second) name = plain + " (" + std::to_string(++number) + ")";
  }
  return fields;
}

char find_separator(std::string_view text) {
  constexpr std::size_t lines_looked_at = 50;
  char best = ',';
  std::size_t most = 1;
  for (const char c : {',', ';', '\t'}) {
    std::size_t fields = 0, lines = 0;
    for (std::string_view rest = text; !rest.empty() && lines < lines_looked_at; ++lines) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      const std::size_t count = csv_texts(line, c).size();
      if (fields != 0 && count != fields) {
        fields = 0;
        break;
      }
      fields = count;
    }
    if (fields > 1) best = c, most = fields;
  }
  if (most > 1) return best;
  const std::string_view first = text.substr(0, text.find('\n'));
  for (const char c : {',', ';', '\t'})
    if (first.find(c) != first.npos) return c;
  return best;
}

CsvColumns::CsvColumns(std::string_view text, char separated_by, const std::string& path,
                       const TableOptions& options)
    : separator(separated_by) {
  std::vector<std::string> fields = csv_texts(text.substr(0, text.find('\n')), separator);
  if (auto names = names_of(fields)) {
    header = true;
    fields = std::move(*names);
  }
  const Preprocessing* const like = options.like;
  const bool by_name = header && like && !like->columns.empty();
  const std::size_t inputs = !like                    ? 0
                             : like->encoding.empty() ? like->width()
                                                      : like->encoding.size();
  const bool empty_end = fields.back().empty() && fields.size() > inputs + 1 && !by_name &&
                         last_column_is_empty(text, separator);
  if (empty_end) {
    fields.pop_back();
    note = "the last column has neither a name nor values and is left out";
  } else if (!header && count_upwards(fields)) {
    note = fmt::format("the first line ({}) is taken as a row; {}", first_of(fields),
                       names_need_letters);
  }
  if (like) {
    match(fields, path, *like);
    require_as_matched(fields, path, options);
  } else {
    choose(fields, path, options);
  }
  if (empty_end) meaning.push_back(ignored);
}

void CsvColumns::learn(const CsvProfile& profile, const std::string& path,
                       bool fill_most_frequent) {
  const bool commas = profile.decimal_commas();
  for (std::size_t c = 0; c < meaning.size(); ++c) {
    if (meaning[c] == ignored) continue;
    const std::string name =
        meaning[c] < 0 ? label_name : encodings[static_cast<std::size_t>(meaning[c])].column;
    ColumnEncoding chosen = choose_encoding(profile.columns[c], commas, name);
    chosen.fill_most_frequent = fill_most_frequent;
    // Who writes decimal commas separates fields by semicolons.
    if (chosen.decimal_comma && separator != ';')
      if (const std::string text = profile.columns[c].like_thousands(); !text.empty()) {
        std::string plain = text;
        std::erase(plain, ',');
        throw InputError(fmt::format(
            "{}: column {}: {} may have a comma between thousands or a decimal comma; write {} for "
            "the one, and separate fields by semicolons for the other",
            path, name.empty() ? std::to_string(c + 1) : shown_piece(name), shown_piece(text),
            plain));
      }
    if (meaning[c] < 0)
      label_comma = chosen.decimal_comma;
    else
      encodings[static_cast<std::size_t>(meaning[c])] = std::move(chosen);
  }
  const auto is_left_out = [](const ColumnEncoding& e) {
    return e.kind == ColumnEncoding::Kind::left_out;
  };
  if (std::all_of(encodings.begin(), encodings.end(), is_left_out))
    throw InputError(
        path +
        ": all inputs have a different text in nearly every row; there is nothing to learn from");
}

bool CsvColumns::leaves_out(const CsvProfile& profile) const {
  for (std::size_t c = 0; c < meaning.size(); ++c)
    if (meaning[c] >= 0 && choose_encoding(profile.columns[c], profile.decimal_commas(), "").kind ==
                               ColumnEncoding::Kind::left_out)
      return true;
  return false;
}

bool CsvColumns::plain() const {
  return std::all_of(encodings.begin(), encodings.end(),
                     [](const ColumnEncoding& e) { return e.is_plain(); });
}

void CsvColumns::choose(const std::vector<std::string>& fields, const std::string& path,
                        const TableOptions& options) {
  label_at = options.label.empty() ? fields.size() - 1
                                   : find_column(fields, header, "label", options.label, path);
  if (fields.size() < 2)
    throw InputError(path + ": has one column; at least one and a label are needed");
  has_label = true;
  meaning.assign(fields.size(), 0);
  meaning[label_at] = label;
  for (const std::string& name : options.exclude) {
    if (!header)  // later calls could not know which columns are left
      throw InputError("`exclude` " + name + ": " + path + " has no header with names");
    for (const std::size_t at : find_columns(fields, header, name, path)) {
      if (at == label_at) throw InputError("`exclude` " + name + ": that is the label of " + path);
      meaning[at] = ignored;
    }
  }
  label_name = header ? fields[label_at] : "";
  label_at -= static_cast<std::size_t>(std::count(
      meaning.begin(), meaning.begin() + static_cast<std::ptrdiff_t>(label_at), ignored));
  for (std::size_t c = 0; c < fields.size(); ++c) {
    if (meaning[c] < 0) continue;
    meaning[c] = static_cast<int>(encodings.size());
    encodings.push_back({.column = header ? fields[c] : ""});
  }
  if (encodings.empty())
    throw InputError(path + ": all its columns are excluded; a model needs one");
}

void CsvColumns::match(const std::vector<std::string>& fields, const std::string& path,
                       const Preprocessing& like) {
  encodings = like.encoding;
  if (encodings.empty()) {
    encodings.resize(like.width());
    for (std::size_t k = 0; k < like.columns.size(); ++k) encodings[k].column = like.columns[k];
  }
  label_comma = like.label_comma;
  const std::size_t width = encodings.size();
  meaning.assign(fields.size(), ignored);
  if (header && !like.columns.empty()) {
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t at = find_name(fields, encodings[k].column);
      const bool needed = encodings[k].kind != ColumnEncoding::Kind::left_out;
      if (at == fields.size() && needed)
        throw InputError(path + ": has no column " + shown_piece(encodings[k].column) +
                         ", which the model needs");
      if (needed) meaning[at] = static_cast<int>(k);
    }
    label_at = like.label.empty() ? fields.size() : find_name(fields, like.label);
    has_label = label_at < fields.size();
  } else {
    has_label = fields.size() == width + 1 && like.label_at <= width;
    if (fields.size() != width && !has_label)
      throw InputError(path + ": has " + std::to_string(fields.size()) +
                       " columns; the model takes " + std::to_string(width) +
                       (like.shape.size() == 3 ? ", the pixels of pictures"
                                               : ", and a label where there is one"));
    label_at = has_label ? like.label_at : fields.size();
    int next = 0;
    for (std::size_t c = 0; c < fields.size(); ++c)
      if (c != label_at) meaning[c] = next++;
  }
  if (has_label) meaning[label_at] = label;
  label_name = like.label;
}

void CsvColumns::require_as_matched(const std::vector<std::string>& fields, const std::string& path,
                                    const TableOptions& options) const {
  const auto shown = [&](std::size_t at) {
    return header ? shown_piece(fields[at]) : std::to_string(at + 1);
  };
  if (!options.label.empty() &&
      find_column(fields, header, "label", options.label, path) != label_at)
    throw InputError("`label` " + options.label + ": the model was trained on the label " +
                     (label_name.empty() ? "in column " + std::to_string(label_at + 1)
                                         : shown_piece(label_name)) +
                     "; remove `label`");
  for (const std::string& name : options.exclude)
    for (const std::size_t at : find_columns(fields, header, name, path))
      if (meaning[at] != ignored)
        throw InputError("`exclude` " + name + ": the model takes the column " + shown(at) +
                         " as " + (meaning[at] == label ? "its label" : "an input"));
}

}  // namespace dasgd
