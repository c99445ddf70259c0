#include "dasgd/data/raw_data.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "dasgd/core/error.hpp"
#include "dasgd/data/row_number.hpp"

namespace dasgd {
namespace {

std::size_t line_of(const RawData& data, std::size_t row) {
  return (data.numbers.empty() ? row : data.numbers[row]) + 1;
}

[[noreturn]] void refuse_label(const RawData& data, std::size_t row, const std::string& why) {
  throw InputError(data.path + ": row " + std::to_string(line_of(data, row)) + " has " + why);
}

constexpr double exact = 1e15;  // below it whole numbers are written in full

// -1 and 1 are the only classes below 0.
void require_whole(const RawData& data, bool signs) {
  for (std::size_t r = 0; r < data.labels.values.size(); ++r) {
    const double label = data.labels.values[r];
    if (std::isnan(label)) refuse_label(data, r, "no label");
    const bool whole = label == std::floor(label) && std::fabs(label) < exact;
    if (!whole || (label < 0 && !(signs && label == -1)))
      refuse_label(data, r,
                   "target " + plain_number(label) +
                       ", which is not a class; classes are texts or 0, 1, ...; for numbers use "
                       "`model` linear, or a network with `loss` mse");
  }
}

// Up to so many, a class of which there is no row yet is likelier than a label that only looks like
// a number.
constexpr std::size_t few_classes = 100;
// More labels than this that hardly repeat are numbers, not classes.
constexpr std::size_t most_numbered_classes = 1000;

std::vector<std::string> sorted_names(const RawData& data) {
  std::vector<std::string> names = data.labels.names;
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string plain_number(double number) {
  if (number == std::floor(number) && std::fabs(number) < exact)
    return std::to_string(static_cast<long long>(number));
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.begin(), text.end(), number).ptr};
}

std::vector<std::string> find_classes(const RawData& data) {
  if (!data.classes.empty()) return data.classes;
  const auto require_few = [&](std::size_t labels) {
    if (labels > most_classes)
      throw InputError(data.path + ": has " + std::to_string(labels) +
                       " different labels, too many for classes");
  };
  const std::size_t texts = data.labels.names.size();
  require_few(texts);
  if (texts > 0) return sorted_names(data);
  const std::set<double> found(data.labels.values.begin(), data.labels.values.end());
  require_whole(data, found == std::set<double>{-1, 1});
  if (found.size() > most_numbered_classes && found.size() > data.labels.values.size() / 10)
    throw InputError(data.path + ": has " + std::to_string(found.size()) +
                     " different numbers as labels; for numbers use `model` linear, or a network "
                     "with `loss` mse; each class must occur at least ten times");
  require_few(found.size());
  std::vector<std::string> names;
  const std::size_t numbers =
      found.empty() || *found.begin() != 0 ? 0 : static_cast<std::size_t>(*found.rbegin()) + 1;
  if (numbers > 0 && numbers <= std::max(few_classes, 2 * found.size())) {
    for (std::size_t c = 0; c < numbers; ++c) names.push_back(std::to_string(c));
  } else {
    for (const double label : found) names.push_back(plain_number(label));
  }
  return names;
}

std::vector<double> to_classes(const RawData& data, const std::vector<std::string>& classes) {
  std::unordered_map<std::string, double> number_of;
  for (std::size_t c = 0; c < classes.size(); ++c)
    number_of.emplace(classes[c], static_cast<double>(c));
  std::map<double, double> known;  // every label is looked up once
  std::vector<double> result;
  result.reserve(data.labels.values.size());
  for (std::size_t r = 0; r < data.labels.values.size(); ++r) {
    const double label = data.labels.values[r];
    if (std::isnan(label)) {
      result.push_back(label);
      continue;
    }
    auto at = known.find(label);
    if (at == known.end()) {
      const std::string name = data.labels.names.empty()
                                   ? plain_number(label)
                                   : data.labels.names[static_cast<std::size_t>(label)];
      const auto of = number_of.find(name);
      if (of == number_of.end())
        refuse_label(data, r,
                     "label " + shown_piece(name) + ", which is not one of the " +
                         std::to_string(classes.size()) + " classes of the model");
      at = known.emplace(label, of->second).first;
    }
    result.push_back(at->second);
  }
  return result;
}

}  // namespace dasgd
