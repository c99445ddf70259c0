#define XXH_INLINE_ALL
#include <algorithm>
#include <cstring>
#include <xxhash.h>
#include <zstd.h>

#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "fuzz/input.hpp"

namespace {

constexpr std::size_t header = 48, hash_at = 32;

// Damage that the checksum cannot find: it is made right again.
std::string with_checksum(std::string file) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, file.data(), hash_at);
  XXH3_128bits_update(&state, file.data() + header, file.size() - header);
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  std::memcpy(file.data() + hash_at, &hash.low64, 8);
  std::memcpy(file.data() + hash_at + 8, &hash.high64, 8);
  return file;
}

// The bytes as the state of a checkpoint.
std::string packed(std::string_view state) {
  std::string file = "dasgdckp";
  const auto number = [&](auto value) {
    file.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  std::string content(ZSTD_compressBound(state.size()), '\0');
  content.resize(ZSTD_compress(content.data(), content.size(), state.data(), state.size(), 1));
  number(std::uint32_t{3});
  number(std::uint32_t{0});
  number(static_cast<std::uint64_t>(state.size()));
  number(static_cast<std::uint64_t>(content.size()));
  file.append(16, '\0');
  return with_checksum(file + content);
}

void read(const std::string& file) {
  using namespace dasgd;
  fuzz::try_reading<CorruptCheckpoint>([&] {
    const Checkpoint checkpoint = decode(std::as_bytes(std::span(file)));
    const std::string again = encode(checkpoint);
    decode(std::as_bytes(std::span(again)));
  });
}

}  // namespace

// The first byte decides: a file as it is, one with a right checksum, or a state.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(dasgd::fuzz::text_of(data + 1, size - 1));
  if (data[0] % 3 == 0) {
    read(bytes);
  } else if (data[0] % 3 == 1 && bytes.size() >= header) {
    read(with_checksum(bytes));
  } else {
    read(packed(bytes));
  }
  return 0;
}
