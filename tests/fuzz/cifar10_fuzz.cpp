#include "dasgd/data/images/cifar10.hpp"
#include "fuzz/input.hpp"
#include "fuzz/scratch_directory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::ScratchDirectory directory;
  // The first byte says which file takes the rest; the others hold one good record.
  static const std::string good(cifar10_record, 1);
  const std::size_t chosen = size > 0 ? data[0] % cifar10_files.size() : 0;
  for (std::size_t k = 0; k < cifar10_files.size(); ++k)
    directory.write(cifar10_files[k].name,
                    k == chosen && size > 0 ? fuzz::text_of(data + 1, size - 1) : good);
  fuzz::try_reading([&] { read_cifar10_directory(directory.path()); });
  return 0;
}
