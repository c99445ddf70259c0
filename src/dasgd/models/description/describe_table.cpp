#include "dasgd/models/description/describe_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/base/units.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/rows/csv_columns.hpp"
#include "dasgd/models/read_data.hpp"

namespace dasgd {
namespace {

using Kind = ColumnEncoding::Kind;
constexpr std::size_t columns_shown = 60, values_shown = 3, classes_shown = 20;

std::string shown_text(std::string_view text) {
  const std::string piece = shown_piece(text);
  return piece.substr(1, piece.size() - 2);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<TextCodes::Entry> by_frequency(const ColumnProfile& column) {
  std::vector<TextCodes::Entry> sorted = column.values.entries();
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  });
  return sorted;
}

FieldForm form_of(const ColumnEncoding& encoding) {
  if (encoding.kind == Kind::boolean) return FieldForm::boolean;
  if (encoding.kind == Kind::date)
    return static_cast<FieldForm>(static_cast<int>(FieldForm::year_month_day) +
                                  static_cast<int>(encoding.form));
  return encoding.decimal_comma ? FieldForm::comma_number : FieldForm::number;
}

/// One table, described part by part.
class TableText {
 public:
  TableText(const CsvOverview& table, const std::string& path, const std::string& label)
      : table_(table), path_(path), commas_(table.profile.decimal_commas()) {
    for (std::size_t c = 0; c < size(); ++c)
      encodings_.push_back(choose_encoding(column(c), commas_, name(c)));
    find_label(label);
  }

  std::string text() const {
    std::string all =
        fmt::format("{}: {}, {} separated by {}{}\n", path_, counted(table_.profile.rows, "row"),
                    counted(size(), "column"), separator(),
                    table_.empty_end ? "; the empty last column is left out" : "");
    return all + header() + columns() + missing() + labels() + problems();
  }

 private:
  std::size_t size() const { return table_.profile.columns.size(); }
  const ColumnProfile& column(std::size_t c) const { return table_.profile.columns[c]; }
  std::string name(std::size_t c) const {
    return table_.names.empty() ? std::to_string(c + 1) : table_.names[c];
  }
  const char* separator() const {
    return table_.separator == ',' ? "commas" : table_.separator == ';' ? "semicolons" : "tabs";
  }
  std::string header() const {
    if (!table_.names.empty()) return "  header     the first line\n";
    return fmt::format("  header     none: the first line has a number or a date; {}\n",
                       names_need_letters);
  }
  bool is_text(std::size_t c) const {
    return encodings_[c].kind == Kind::category || encodings_[c].kind == Kind::left_out;
  }

  void find_label(const std::string& wanted) {
    label_ = size() - 1;
    for (std::size_t c = 0; c < size(); ++c)
      if (!wanted.empty() && (name(c) == wanted || std::to_string(c + 1) == wanted)) {
        label_ = c;
        return;
      }
    if (!wanted.empty()) why_ = ", because there is no column " + shown_piece(wanted);
    constexpr std::array<std::string_view, 11> names{"label",   "target", "class",  "y",
                                                     "outcome", "price",  "ziel",   "klasse",
                                                     "preis",   "churn",  "species"};
    guess_ = label_;
    if (std::ranges::count(names, lower(name(label_))) > 0) return;
    for (const std::string_view usual : names)
      for (std::size_t c = 0; c < size(); ++c)
        if (guess_ == label_ && lower(name(c)) == usual) guess_ = c;
  }

  std::string columns() const {
    std::string text = fmt::format("  {:<20}{:<30}{:>10}{:>10}  {}\n", "column", "taken as",
                                   "distinct", "missing", "values");
    for (std::size_t c = 0; c < std::min(columns_shown, size()); ++c)
      text += fmt::format("  {:<20}{:<30}{:>10}{:>10}  {}\n", shown_text(name(c)),
                          c == label_ ? "the label" : taken_as(c),
                          fmt::format("{}{}", column(c).more_values ? ">" : "",
                                      show_count(column(c).values.size())),
                          show_count(column(c).missing), values(c));
    if (size() > columns_shown)
      text += fmt::format("  and {} more columns\n", show_count(size() - columns_shown));
    return text;
  }

  std::string taken_as(std::size_t c) const {
    const std::size_t distinct = column(c).values.size();
    if (encodings_[c].kind != Kind::category) return encodings_[c].in_words();
    return distinct == 1 ? "1 category"
           : distinct <= ColumnEncoding::most_values
               ? fmt::format("{} categories", distinct)
               : fmt::format("{} categories, others by hash", ColumnEncoding::most_values);
  }

  std::string values(std::size_t c) const {
    const ColumnProfile& of = column(c);
    if (encodings_[c].kind == Kind::number && of.present > 0) {
      const auto& range = encodings_[c].decimal_comma ? of.commas : of.points;
      const auto count = static_cast<double>(
          of.fitting(encodings_[c].decimal_comma ? FieldForm::comma_number : FieldForm::number));
      return fmt::format("from {:.6g} to {:.6g}, mean {:.6g}", range.least, range.most,
                         range.sum / std::max(1.0, count));
    }
    std::string text;
    const auto sorted = by_frequency(of);
    for (std::size_t k = 0; k < std::min(values_shown, sorted.size()); ++k)
      text += fmt::format("{}{} ({})", k > 0 ? ", " : "", shown_text(sorted[k].text),
                          show_count(sorted[k].count));
    return text + (sorted.size() > values_shown ? ", ..." : "");
  }

  std::string missing() const {
    std::size_t numbers = 0, texts = 0;
    for (std::size_t c = 0; c < size(); ++c) (is_text(c) ? texts : numbers) += column(c).missing;
    return fmt::format("  missing    {}{}\n", counted(numbers, "number"),
                       texts > 0 ? ", " + counted(texts, "text") : "");
  }

  std::string labels() const {
    const ColumnProfile& of = column(label_);
    const std::string where = table_.names.empty()
                                  ? fmt::format(" (column {})", label_ + 1)
                                  : fmt::format(" (column {})", shown_text(name(label_)));
    std::string text;
    const bool whole = std::ranges::all_of(of.values.entries(), [](const auto& value) {
      return value.text.find_first_not_of("0123456789") == value.text.npos;
    });
    const bool number = encodings_[label_].kind == Kind::number;
    if (number && (!whole || of.values.size() > classes_shown))
      text = fmt::format(
          "  labels     numbers from {:g} to {:g}{}: train with `model` linear, or a network with "
          "`loss` mse\n",
          encodings_[label_].decimal_comma ? of.commas.least : of.points.least,
          encodings_[label_].decimal_comma ? of.commas.most : of.points.most, where);
    else {
      text = fmt::format("  labels     {} classes{}\n", of.values.size(), where);
      const auto sorted = by_frequency(of);
      for (std::size_t k = 0; k < std::min(classes_shown, sorted.size()); ++k)
        text +=
            fmt::format("    {:<18} {}\n", shown_text(sorted[k].text), show_count(sorted[k].count));
      if (sorted.size() > classes_shown)
        text += fmt::format("    and {} more classes\n", show_count(sorted.size() - classes_shown));
    }
    if (guess_ && *guess_ != label_)
      text +=
          fmt::format("  the last column is taken as the label{}; {} looks like one: `label` {}\n",
                      why_, shown_text(name(*guess_)), shown_text(name(*guess_)));
    else if (!why_.empty())
      text += fmt::format("  the last column is taken as the label{}\n", why_);
    return text;
  }

  std::string problems() const {
    std::string text;
    const auto add = [&](const std::string& line) { text += "    " + line + "\n"; };
    const auto& profile = table_.profile;
    if (profile.odd_rows > 0)
      add(
          fmt::format("{} lines have more or fewer columns than the first, line {} before others: "
                      "training refuses them (line breaks inside quotes are not supported)",
                      show_count(profile.odd_rows), table_.lines_before + profile.odd_line + 1));
    if (column(label_).missing > 0)
      add(fmt::format("{} rows have no label: `missing` drop leaves them out",
                      show_count(column(label_).missing)));
    if (column(label_).values.size() == 1) add("all labels are the same: nothing can be learnt");
    if (is_text(label_) && 2 * column(label_).values.size() > profile_rows())
      add("a class has fewer than 2 rows on average: too few to learn from");
    if (profile_rows() < least_rows)
      add(fmt::format("training needs at least {} rows", least_rows));
    if (size() < 2)
      add("training needs a label and at least one other column, separated by commas, semicolons "
          "or "
          "tabs");
    for (std::size_t c = 0; c < size(); ++c)
      if (c != label_) add_problems(c, add);
    return text.empty() ? "" : "  problems\n" + text;
  }

  template <typename Add>
  void add_problems(std::size_t c, const Add& add) const {
    const ColumnProfile& of = column(c);
    const std::string who = "column " + shown_text(name(c));
    const auto excluded = [&] {
      return table_.names.empty()
                 ? ""
                 : fmt::format("; `exclude` {} leaves it out", shown_text(name(c)));
    };
    if (of.present == 0) return add(who + " is empty" + excluded());
    if (!is_text(c)) add_strays(c, who, excluded(), add);
    if (is_text(c) && of.has_dates())
      add(who + " has dates in several forms, which are taken as texts: write all in one");
    if (encodings_[c].decimal_comma && !of.like_thousands().empty())
      add(fmt::format("{} may have commas between thousands, {} for example: write plain numbers",
                      who, shown_text(of.like_thousands())));
    if (is_text(c) && looks_like_numbers(of))
      add(
          fmt::format("{} looks like numbers with separators or units, {} for example: write plain "
                      "numbers, or they are taken as texts",
                      who, shown_text(by_frequency(of).front().text)));
    if (encodings_[c].kind == Kind::left_out)
      add(who + " has a different text in nearly every row: it is left out");
    else if (of.values.size() == 1 && of.missing == 0)
      add(who + " is constant" + excluded());
    if (encodings_[c].is_plain() && of.values.size() == profile_rows() && profile_rows() >= 20 &&
        of.points.most - of.points.least + 1 == static_cast<double>(profile_rows()))
      add(who + " counts the rows" + excluded());
    if (encodings_[c].kind == Kind::date && encodings_[c].form == DateForm::day_month_year &&
        of.fitting(FieldForm::month_day_year) == of.present)
      add(who + " may have days or months first; days are assumed");
  }
  // Fields that do not have the form of their column.
  template <typename Add>
  void add_strays(std::size_t c, const std::string& who, const std::string& excluded,
                  const Add& add) const {
    const ColumnProfile& of = column(c);
    const FieldForm form = form_of(encodings_[c]);
    const std::size_t count =
        of.present - of.fitting(form) + (form == FieldForm::number ? of.endless : 0);
    const auto& stray = of.strays[static_cast<std::size_t>(form)];
    if (count > 0)
      add(fmt::format(
          "{} has {} {} of another kind, {} in line {} the first: training refuses {}{}", who,
          show_count(count), count == 1 ? "field" : "fields", shown_piece(stray.text),
          table_.lines_before + stray.line + 1, count == 1 ? "it" : "them", excluded));
  }
  // "1,234,567", "12.30 EUR", "EUR 12.30", "50%"; not "p12", which is an id.
  static bool looks_like_numbers(const ColumnProfile& of) {
    std::size_t decorated = 0;
    for (const auto& value : of.values.entries()) {
      const auto digits = std::ranges::count_if(
          value.text, [](unsigned char letter) { return std::isdigit(letter) != 0; });
      const auto letters = std::ranges::count_if(
          value.text, [](unsigned char letter) { return std::isalpha(letter) != 0; });
      const bool is_date = value.text.find_first_of("-/:") != value.text.npos;
      const auto word = std::ranges::find_if(
          value.text, [](unsigned char letter) { return std::isalpha(letter) == 0; });
      const bool is_id = word != value.text.begin() && word != value.text.end() &&
                         std::isdigit(static_cast<unsigned char>(*word)) != 0;
      if (digits > 0 && letters <= 3 && letters < digits && !is_date && !is_id) ++decorated;
    }
    return 10 * decorated >= 9 * of.values.size();
  }
  std::size_t profile_rows() const { return table_.profile.rows; }

  const CsvOverview& table_;
  const std::string path_;
  const bool commas_;
  std::vector<ColumnEncoding> encodings_;
  std::size_t label_ = 0;
  std::optional<std::size_t> guess_;
  std::string why_;
};

// "time is rounded to multiples of 128: subtract ... from it first", where the values of a column
// are close to each other and far from 0, several of them become the same 32-bit number.
std::string rounded_columns(const Preprocessing& how) {
  constexpr double much = 0.05;  // of a standard deviation
  std::string text;
  const auto look_at = [&](const std::string& name, double mean, double deviation) {
    const auto at = static_cast<float>(std::fabs(mean));
    const double step = std::nextafter(at, std::numeric_limits<float>::infinity()) - at;
    if (deviation > 0 && std::isfinite(deviation) && step > much * deviation)
      text += fmt::format("{}{} is rounded to multiples of {:.3g}: subtract {:.4g} from it first",
                          text.empty() ? "" : "; ", name, step, mean);
  };
  const bool named = how.columns.size() == how.mean.size();
  for (std::size_t c = 0; c < how.mean.size() && c < how.factor.size(); ++c)
    if (how.factor[c] != 1)
      look_at(named ? shown_text(how.columns[c]) : fmt::format("input {}", c + 1), how.mean[c],
              1.0 / static_cast<double>(how.factor[c]));
  if (how.target)
    look_at(how.label.empty() ? "the label" : shown_text(how.label), how.target->mean,
            how.target->deviation);
  return text;
}

}  // namespace

std::string describe_table(const CsvOverview& table, const std::string& path,
                           const std::string& label) {
  return TableText(table, path, label).text();
}

std::string describe_columns(const PreparedSamples& samples) {
  const RawData& data = *samples.parts()[Part::train].data;
  const auto has = [](Kind kind) {
    return [kind](const ColumnEncoding& c) { return c.kind == kind; };
  };
  const auto& columns = data.encoding;
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  for (const auto& [kind, word] :
       {std::pair(Kind::number, "number"), {Kind::boolean, "yes/no"}, {Kind::date, "date"}})
    if (const auto count = std::count_if(columns.begin(), columns.end(), has(kind)); count > 0)
      add(counted(static_cast<std::uint64_t>(count), word + std::string(" column")));
  std::string left_out;
  for (const ColumnEncoding& column : columns) {
    const std::string name = column.column.empty() ? "a text" : shown_text(column.column);
    if (column.kind == Kind::category) add(fmt::format("{} ({})", name, column.in_words()));
    if (column.kind == Kind::left_out) left_out += (left_out.empty() ? "" : ", ") + name;
  }
  if (!left_out.empty()) text += "; left out: " + left_out;
  if (data.missing > 0 && data.dropped == 0)
    text += fmt::format("{}{} {} filled in ({})", text.empty() ? "" : "; ",
                        counted(data.missing, "missing value"), data.missing == 1 ? "is" : "are",
                        to_string(samples.preprocessing()->missing));
  if (data.dropped > 0)
    text += fmt::format("{}{} with missing values {} left out", text.empty() ? "" : "; ",
                        counted(data.dropped, "row"), data.dropped == 1 ? "is" : "are");
  for (const std::string& more : {rounded_columns(*samples.preprocessing()), data.note})
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  return text.empty() ? "" : data.path + ": " + text;
}

}  // namespace dasgd
