#include "dasgd/data/linear_system.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(fuzz::text_of(data, size));
  fuzz::try_reading([&] { read_linear_system(path); });
  return 0;
}
