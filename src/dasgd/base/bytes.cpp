#include "dasgd/base/bytes.hpp"

namespace dasgd {

// Not in the header: inlined, GCC 12 takes it for an overflow and warns.
void ByteWriter::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

}  // namespace dasgd
