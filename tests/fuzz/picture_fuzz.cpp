#include "dasgd/data/images/picture.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  fuzz::try_reading([&] {
    const Picture read = decode_picture(fuzz::text_of(data, size), "picture");
    if (read.pixels.size() < 100'000) resized(read, 3, 5);
  });
  return 0;
}
