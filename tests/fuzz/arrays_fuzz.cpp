#include "dasgd/data/arrays/array_data.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(fuzz::text_of(data, size));
  const auto read_all = [](const RawData& read) {
    std::vector<float> row(read.inputs->width());
    for (std::size_t r = 0; r < read.rows(); ++r) read.inputs->copy(r, row);
    find_classes(read);
  };
  fuzz::try_reading([&] { read_all(read_npy(path, std::nullopt, {})); });
  fuzz::try_reading([&] { read_all(read_npy(path, path, {.missing = Missing::drop})); });
  fuzz::try_reading([&] { read_all(read_npz(path, {}).first); });
  return 0;
}
