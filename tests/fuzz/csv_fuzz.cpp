#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <stdexcept>
#include <string>

#include "dasgd/data/rows/csv_file.hpp"
#include "dasgd/data/rows/plain_decimal.hpp"
#include "dasgd/data/rows/row_labels.hpp"
#include "dasgd/data/rows/row_text.hpp"
#include "dasgd/data/stream/line_input.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace dasgd;

// Numbers that are read fast are those that are read slowly.
void compare_numbers(std::string_view text) {
  for (std::size_t at = 0; at < std::min<std::size_t>(text.size(), 64); ++at) {
    const char* const begin = text.data() + at;
    double fast = 0, slow = 0;
    const char* const end = plain_decimal(begin, text.data() + text.size(), '.', fast);
    if (!end) continue;
    const auto parsed = std::from_chars(begin, end, slow, std::chars_format::fixed);
    if (parsed.ptr != end || fast != slow) throw std::logic_error("a number was misread");
  }
}

void compare_lines(const std::string& path, std::string_view text) {
  LineInput input = LineInput::read(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  while (const auto line = input.next()) {
    const auto expected = text.substr(0, text.find('\n'));
    if (*line != expected) throw std::logic_error("a line was misread");
    text.remove_prefix(std::min(text.size(), expected.size() + 1));
  }
  if (!input.ended() || !text.empty()) throw std::logic_error("a line is missing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFile file;
  const std::string_view text = fuzz::text_of(data, size);
  for (const bool classes : {false, true})
    fuzz::try_reading([&] {  // where memory ends with the text, unlike that of a file
      const RawData read =
          read_csv(text, "rows.csv", {.missing = Missing::mean, .classes = classes});
      if (classes) to_classes(read, find_classes(read));
    });
  const std::string path = file.write(text);
  fuzz::try_reading([&] { look_at_csv(path); });
  compare_lines(path, text);
  compare_numbers(text);
  fuzz::try_reading([&] {
    RowText rows("rows", RowFormat::csv, {});
    const auto labels = class_labels({});
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const auto row = rows.read(line)) labels->see(row->label, rows);
    }
  });
  return 0;
}
