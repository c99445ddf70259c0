// The files in a ZIP archive, as numpy.savez and torch.jit.save write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dasgd {

struct ZipEntry {
  std::string name;
  std::size_t begin = 0, packed = 0, size = 0;  ///< of its bytes in the archive, and unpacked
  bool deflated = false;
  std::uint32_t checksum = 0;  ///< CRC-32 of its bytes; 0: the archive has none
};

/// Throws InputError naming `path` for bytes that are not an archive, or one of another kind:
/// encrypted, or packed by another method than deflate.
std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& path);

/// The bytes of an entry that is deflated.
std::string unpack(std::string_view archive, const ZipEntry& entry, const std::string& path);

/// Whether the bytes of an entry have its checksum, where it has one.
bool is_intact(std::string_view archive, const ZipEntry& entry, const std::string& path);

}  // namespace dasgd
