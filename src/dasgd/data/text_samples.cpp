#include "dasgd/data/text_samples.hpp"

#include <fstream>
#include <iterator>

#include "dasgd/core/error.hpp"

namespace dasgd {

TextSamples::TextSamples(std::string text, std::size_t window, const std::string& path) {
  const std::size_t windows = text.empty() ? 0 : (text.size() - 1) / window;
  if (windows < 20)
    throw InputError(path + ": has " + std::to_string(text.size()) + " characters; at least " +
                     std::to_string(20 * window + 1) + " are needed");
  std::array<int, 256> number{};
  for (const char c : text) number[static_cast<std::uint8_t>(c)] = 1;
  int kinds = 0;
  for (int& n : number) n = n == 1 ? kinds++ : -1;
  for (const char c : text)
    numbers_.push_back(static_cast<std::uint8_t>(number[static_cast<std::uint8_t>(c)]));
  format_ = {.input = {static_cast<std::int64_t>(window)},
             .tokens = true,
             .classes = static_cast<std::size_t>(kinds),
             .targets = window};
  test_ = windows / 10;
  train_ = windows - test_;
}

void TextSamples::gather(Split split, Rows rows, Random*, SampleBatch& batch) const {
  const std::size_t window = format_.targets;
  const std::size_t first = split == Split::train ? 0 : train_;
  batch.count = rows.size();
  batch.tokens.clear();
  batch.labels.clear();
  for (const std::uint32_t row : rows) {
    const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>((first + row) * window);
    const auto end = begin + static_cast<std::ptrdiff_t>(window);
    batch.tokens.insert(batch.tokens.end(), begin, end);
    batch.labels.insert(batch.labels.end(), begin + 1, end + 1);
  }
}

TextSamples read_text_samples(const std::string& path, std::size_t window) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InputError(path + ": cannot be read; --data needs a text file");
  return {std::move(text), window, path};
}

}  // namespace dasgd
