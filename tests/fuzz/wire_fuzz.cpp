#define XXH_INLINE_ALL
#include <span>
#include <string>
#include <variant>
#include <xxhash.h>

#include "dasgd/transport/wire.hpp"
#include "fuzz/input.hpp"

// As it is, and behind a right beginning with a right checksum: the first byte is the kind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  constexpr std::size_t workers = 4;
  wire::decode(std::as_bytes(std::span(data, size)), workers);
  if (size == 0) return 0;
  ByteWriter out;
  out.number(wire::magic);
  out.number(wire::version);
  out.number<std::uint16_t>(data[0]);
  for (const std::uint8_t byte : std::span(data + 1, size - 1)) out.number(byte);
  out.number<std::uint64_t>(XXH3_64bits(out.bytes().data(), out.bytes().size()));
  const auto decoded = wire::decode(out.bytes(), workers);
  const auto* const message = std::get_if<wire::Message>(&decoded);
  const auto* const note = message ? std::get_if<wire::Note>(message) : nullptr;
  if (note && wire::encode(*note) != out.bytes()) throw std::logic_error("a note has changed");
  return 0;
}
