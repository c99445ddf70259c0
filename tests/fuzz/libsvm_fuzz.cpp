#include <algorithm>

#include "dasgd/data/rows/libsvm.hpp"
#include "dasgd/data/rows/row_labels.hpp"
#include "dasgd/data/rows/row_text.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(fuzz::text_of(data, size));
  fuzz::try_reading([&] {
    const LabelledRows rows = read_libsvm_any(path);
    if (rows.rows() * rows.dimension < 100000) find_classes(dense(rows, path));
  });
  fuzz::try_reading([&] { read_libsvm(path); });
  fuzz::try_reading([&] { dense(read_libsvm_any(path), path, 5); });
  fuzz::try_reading([&] {
    RowText rows("rows", {}, {});
    const auto labels = sign_labels();
    std::string_view rest = fuzz::text_of(data, size);
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const auto row = rows.read(line)) labels->see(row->label, rows);
    }
    rows.settle_features();
  });
  return 0;
}
