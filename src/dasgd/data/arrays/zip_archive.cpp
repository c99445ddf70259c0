#include "dasgd/data/arrays/zip_archive.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <zlib.h>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

/// Little-endian numbers at places that are checked.
class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  [[noreturn]] void fail() const {
    throw InputError(path_ + ": is a broken .npz archive; write it again");
  }
  std::string_view piece(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) fail();
    return bytes_.substr(at, size);
  }
  template <typename Number>
  Number number(std::uint64_t at) const {
    Number value;
    std::memcpy(&value, piece(at, sizeof value).data(), sizeof value);
    return value;
  }

 private:
  const std::string_view bytes_;
  const std::string& path_;
};

constexpr std::uint32_t end_mark = 0x06054b50, entry_mark = 0x02014b50, local_mark = 0x04034b50,
                        end_64_mark = 0x06064b50, locator_mark = 0x07064b50;
constexpr std::uint32_t in_64 = 0xFFFFFFFF;  // the number stands in 64 bits elsewhere

// Sizes and places beyond 32 bits stand in an extra field, in this order, if they are marked.
void read_64(const ZipReader& in, std::uint64_t at, std::size_t length, ZipEntry& entry,
             std::uint64_t& local) {
  const std::uint64_t end = at + length;
  while (at + 4 <= end) {
    const auto id = in.number<std::uint16_t>(at), size = in.number<std::uint16_t>(at + 2);
    std::uint64_t value = at + 4;
    at += 4 + std::uint64_t{size};
    if (id != 1) continue;
    for (std::size_t* const to : {&entry.size, &entry.packed, &local})
      if (*to == in_64) {
        *to = in.number<std::uint64_t>(value);
        value += 8;
      }
  }
}

struct Directory {
  std::uint64_t begin = 0, entries = 0;
};

Directory find_directory(const ZipReader& in, std::string_view bytes) {
  constexpr std::size_t least = 22, most_comment = 0xFFFF;
  if (bytes.size() < least) in.fail();
  const std::size_t first = bytes.size() - std::min(bytes.size(), least + most_comment);
  for (std::size_t at = bytes.size() - least + 1; at-- > first;) {
    if (in.number<std::uint32_t>(at) != end_mark) continue;
    Directory found{in.number<std::uint32_t>(at + 16), in.number<std::uint16_t>(at + 10)};
    if (at >= 20 && in.number<std::uint32_t>(at - 20) == locator_mark) {
      const auto wide = in.number<std::uint64_t>(at - 20 + 8);
      if (in.number<std::uint32_t>(wide) != end_64_mark) in.fail();
      found = {in.number<std::uint64_t>(wide + 48), in.number<std::uint64_t>(wide + 32)};
    }
    return found;
  }
  in.fail();
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(std::string_view archive, const std::string& path) {
  const ZipReader in(archive, path);
  const Directory directory = find_directory(in, archive);
  std::vector<ZipEntry> entries;
  std::uint64_t at = directory.begin;
  for (std::uint64_t k = 0; k < directory.entries; ++k) {
    if (in.number<std::uint32_t>(at) != entry_mark) in.fail();
    const auto flags = in.number<std::uint16_t>(at + 8), method = in.number<std::uint16_t>(at + 10);
    ZipEntry entry;
    entry.checksum = in.number<std::uint32_t>(at + 16);
    entry.packed = in.number<std::uint32_t>(at + 20);
    entry.size = in.number<std::uint32_t>(at + 24);
    const std::uint64_t name = in.number<std::uint16_t>(at + 28),
                        extra = in.number<std::uint16_t>(at + 30),
                        comment = in.number<std::uint16_t>(at + 32);
    std::uint64_t local = in.number<std::uint32_t>(at + 42);
    entry.name = in.piece(at + 46, name);
    read_64(in, at + 46 + name, extra, entry, local);
    if ((flags & 1) != 0 || (method != 0 && method != 8))
      throw InputError(
          path +
          ": is encrypted or compressed by an unsupported method; write it with numpy.savez");
    entry.deflated = method == 8;
    if (in.number<std::uint32_t>(local) != local_mark) in.fail();
    entry.begin =
        local + 30 + in.number<std::uint16_t>(local + 26) + in.number<std::uint16_t>(local + 28);
    in.piece(entry.begin, entry.packed);
    if (!entry.deflated && entry.packed != entry.size) in.fail();
    entries.push_back(std::move(entry));
    at += 46 + name + extra + comment;
  }
  return entries;
}

std::string unpack(std::string_view archive, const ZipEntry& entry, const std::string& path) {
  const ZipReader in(archive, path);
  const std::string_view packed = in.piece(entry.begin, entry.packed);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::string bytes;
  // Grows with what is really there: a wrong size in the archive must not allocate for it.
  constexpr std::size_t at_a_time = std::size_t{1} << 24;
  std::size_t taken = 0;
  int state = Z_OK;
  while (state == Z_OK && bytes.size() <= entry.size) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min(at_a_time, packed.size() - taken);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
      stream.avail_in = static_cast<uInt>(next);
      taken += next;
    }
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(at_a_time, entry.size - before + 1));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
    stream.avail_out = static_cast<uInt>(bytes.size() - before);
    state = inflate(&stream, Z_NO_FLUSH);
    bytes.resize(bytes.size() - stream.avail_out);
    if (state == Z_BUF_ERROR && taken == packed.size()) break;
    if (state == Z_BUF_ERROR) state = Z_OK;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || bytes.size() != entry.size) in.fail();
  return bytes;
}

bool is_intact(std::string_view archive, const ZipEntry& entry, const std::string& path) {
  if (entry.checksum == 0) return true;
  std::string unpacked;
  std::string_view bytes = ZipReader(archive, path).piece(entry.begin, entry.packed);
  if (entry.deflated) bytes = unpacked = unpack(archive, entry, path);
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == entry.checksum;
}

}  // namespace dasgd
