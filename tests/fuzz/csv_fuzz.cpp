#include <algorithm>

#include "dasgd/data/rows/csv_file.hpp"
#include "dasgd/data/rows/row_labels.hpp"
#include "dasgd/data/rows/row_text.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(fuzz::text_of(data, size));
  for (const bool classes : {false, true})
    fuzz::try_reading([&] {
      const RawData read = read_csv(path, {.missing = Missing::mean, .classes = classes});
      if (classes) to_classes(read, find_classes(read));
    });
  fuzz::try_reading([&] {
    RowText rows("rows", RowFormat::csv, {});
    const auto labels = class_labels({});
    std::string_view rest = fuzz::text_of(data, size);
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const auto row = rows.read(line)) labels->see(row->label, rows);
    }
  });
  return 0;
}
