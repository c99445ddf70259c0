#include <algorithm>

#include "dasgd/data/images/idx.hpp"
#include "fuzz/input.hpp"
#include "fuzz/scratch_directory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::ScratchDirectory directory;
  // Each of the files is as long as the byte before it says; the last takes the rest.
  std::string_view rest = fuzz::text_of(data, size);
  for (const char* name : {"train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "train-images-idx3-ubyte"}) {
    std::size_t length = rest.size();
    if (std::string_view(name) != "train-images-idx3-ubyte" && !rest.empty()) {
      length = std::min<std::size_t>(static_cast<std::uint8_t>(rest[0]), rest.size() - 1);
      rest.remove_prefix(1);
    }
    directory.write(name, rest.substr(0, length));
    rest.remove_prefix(length);
  }
  fuzz::try_reading([&] { read_idx_directory(directory.path()); });
  return 0;
}
