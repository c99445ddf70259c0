#define XXH_INLINE_ALL
#include <array>
#include <span>
#include <string>
#include <variant>
#include <xxhash.h>

#include "dasgd/core/packing.hpp"
#include "dasgd/transport/wire.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace dasgd;

constexpr std::size_t workers = 4;

Bytes written(wire::GradientHeader header) {
  constexpr std::uint64_t most = 1 << 20;  // headers announce numbers, and none are here
  if (header.numbers_bytes > most) return {};
  header.gradient.update.resize_bytes(header.numbers_bytes, header.gradient.update.format());
  if (header.on_device) return wire::encode_header_on_device(header.gradient);
  if (header.slot) return wire::encode_loan(header.gradient, *header.slot);
  return wire::encode_header(header.gradient, header.packed_bytes);
}
Bytes written(const wire::BundleHeader& header) {
  constexpr std::uint64_t most = 1 << 20;
  if (header.sums_bytes > most) return {};
  return wire::encode_header(Bundle(header.facts, header.format, header.sums_bytes),
                             header.packed_bytes);
}
template <typename Other>
Bytes written(const Other& message) {
  return wire::encode(message);
}

Bytes written(const wire::Decoded& decoded) {
  const auto* const message = std::get_if<wire::Message>(&decoded);
  return message ? std::visit([](const auto& m) { return written(m); }, *message) : Bytes();
}

// What was read can be written, and is read as the same.
void go_round(const wire::Decoded& decoded) {
  const Bytes once = written(decoded);
  if (!once.empty() && written(wire::decode(once, workers)) != once)
    throw std::logic_error("a message has changed");
}

// As the packed numbers of an update or a sum.
template <std::size_t number_bytes>
void unpack_as(std::span<const std::byte> bytes) {
  std::array<std::byte, 300 * number_bytes> numbers{}, again{};
  if (!unpack(bytes, number_bytes, numbers)) return;
  if (!unpack(pack(numbers, number_bytes), number_bytes, again) || numbers != again)
    throw std::logic_error("numbers have changed");
}

}  // namespace

// As it is, and behind a right beginning with a right checksum: the first byte is the kind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  go_round(wire::decode(bytes, workers));
  unpack_as<4>(bytes);
  unpack_as<8>(bytes);
  unpack_as<16>(bytes);
  if (size == 0) return 0;
  ByteWriter out;
  out.number(wire::magic);
  out.number(wire::version);
  out.number<std::uint16_t>(data[0]);
  for (const std::uint8_t byte : std::span(data + 1, size - 1)) out.number(byte);
  out.number<std::uint64_t>(XXH3_64bits(out.bytes().data(), out.bytes().size()));
  const auto decoded = wire::decode(out.bytes(), workers);
  go_round(decoded);
  const auto* const message = std::get_if<wire::Message>(&decoded);
  const auto* const note = message ? std::get_if<wire::Note>(message) : nullptr;
  if (note && wire::encode(*note) != out.bytes()) throw std::logic_error("a note has changed");
  return 0;
}
