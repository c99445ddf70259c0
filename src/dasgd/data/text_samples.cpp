#include "dasgd/data/text_samples.hpp"

#include <cmath>
#include <fstream>
#include <iterator>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {
namespace {

// A printing character as it is, others by their code.
std::string name_of(unsigned code) {
  if (code > ' ' && code <= '~') return {static_cast<char>(code)};
  return "byte " + std::to_string(code);
}

}  // namespace

TextSamples::TextSamples(const std::string& text, std::size_t window, const std::string& path,
                         double share) {
  const std::size_t windows = text.empty() ? 0 : (text.size() - 1) / window;
  if (windows < 20)
    throw InputError(path + ": has " + std::to_string(text.size()) + " characters; at least " +
                     std::to_string(20 * window + 1) + " are needed");
  for (const char c : text) number_of_[static_cast<std::uint8_t>(c)] = 1;
  int kinds = 0;
  for (unsigned code = 0; code < number_of_.size(); ++code) {
    if (number_of_[code] == 1) preprocessing_.classes.push_back(name_of(code));
    number_of_[code] = number_of_[code] == 1 ? kinds++ : -1;
  }
  format_ = {.input = {static_cast<std::int64_t>(window)},
             .tokens = true,
             .classes = static_cast<std::size_t>(kinds),
             .targets = window};
  preprocessing_.shape = format_.input;
  const auto held = static_cast<std::size_t>(std::floor(share * static_cast<double>(windows)));
  if ((held == 0 && share > 0) || held >= windows)
    throw InputError(path + ": " + std::to_string(windows) +
                     " samples cannot be split by `validation` " + plain_number(share));
  const std::size_t cut = (windows - held) * window;
  const auto numbers = to_numbers(text, path);
  const auto at = [&](std::size_t place) {
    return numbers.begin() + static_cast<std::ptrdiff_t>(place);
  };
  // A window needs the character behind it, so the pieces share one.
  pieces_[0] = {{at(0), at(cut + 1)}, windows - held, path};
  if (held > 0) pieces_[1] = {{at(cut), numbers.end()}, held, "the end of " + path};
}

void TextSamples::add(Part part, const std::string& text, const std::string& path) {
  const std::size_t windows = text.empty() ? 0 : (text.size() - 1) / format_.targets;
  if (windows == 0)
    throw InputError(path + ": is shorter than " + std::to_string(format_.targets + 1) +
                     " characters");
  pieces_[static_cast<std::size_t>(part)] = {to_numbers(text, path), windows, path};
}

std::vector<std::uint8_t> TextSamples::to_numbers(const std::string& text,
                                                  const std::string& path) const {
  std::vector<std::uint8_t> numbers;
  numbers.reserve(text.size());
  for (const char c : text) {
    const int number = number_of_[static_cast<std::uint8_t>(c)];
    if (number < 0)
      throw InputError(path + ": has a character that the training text does not have: " +
                       name_of(static_cast<std::uint8_t>(c)));
    numbers.push_back(static_cast<std::uint8_t>(number));
  }
  return numbers;
}

void TextSamples::gather(Part part, Rows rows, Random*, SampleBatch& batch) const {
  const std::size_t window = format_.targets;
  batch.count = rows.size();
  batch.tokens.clear();
  batch.labels.clear();
  for (const std::uint32_t row : rows) {
    const auto begin = piece(part).numbers.begin() + static_cast<std::ptrdiff_t>(row * window);
    const auto end = begin + static_cast<std::ptrdiff_t>(window);
    batch.tokens.insert(batch.tokens.end(), begin, end);
    batch.labels.insert(batch.labels.end(), begin + 1, end + 1);
  }
}

std::string read_text_file(const std::string& path) {
  std::ifstream file = open_file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InputError(path + ": cannot be read; `data` needs a text file");
  return text;
}

}  // namespace dasgd
