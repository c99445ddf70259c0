// The files in a ZIP archive, as numpy.savez writes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dasgd {

struct ZipEntry {
  std::string name;
  std::size_t begin = 0, packed = 0, size = 0;  ///< of its bytes in the archive, and unpacked
  bool deflated = false;
};

/// Throws InputError naming `path` for bytes that are no archive, or one of another kind:
/// encrypted, or packed by another method than deflate.
std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& path);

/// The bytes of an entry that is deflated.
std::string unpack(std::string_view archive, const ZipEntry& entry, const std::string& path);

}  // namespace dasgd
