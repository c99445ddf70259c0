#include "dasgd/record/checkpoints/checkpoint.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cstring>
#include <xxhash.h>
#include <zstd.h>

namespace dasgd {
namespace {

constexpr std::array<char, 8> magic{'d', 'a', 's', 'g', 'd', 'c', 'k', 'p'};
constexpr std::uint32_t format = 3;
constexpr int fast =
    1;  // the low bits of sums are noise: a higher level costs time and gains little

struct Header {
  std::array<char, 8> magic;
  std::uint32_t format, reserved;
  std::uint64_t plain_size, packed_size;
  std::uint64_t hash_low, hash_high;  // of all before and of the packed bytes
};
static_assert(sizeof(Header) == 48);

XXH128_hash_t hash_of(const Header& header, std::span<const std::byte> packed) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, &header, offsetof(Header, hash_low));
  XXH3_128bits_update(&state, packed.data(), packed.size());
  return XXH3_128bits_digest(&state);
}

// Before memory is taken for it. Four bytes of zstd become 128 KiB at most.
bool can_hold(std::span<const std::byte> packed, std::uint64_t plain_size) {
  constexpr std::uint64_t most_per_byte = (128 * 1024) / 4;
  return plain_size / most_per_byte <= packed.size() &&
         ZSTD_getFrameContentSize(packed.data(), packed.size()) == plain_size;
}

void write(ByteWriter& to, const DataPosition& position) {
  to.number(position.next);
  to.array(std::span<const std::uint64_t>(position.ahead));
}

DataPosition read_position(ByteReader& from) {
  DataPosition position;
  position.next = from.number<std::uint64_t>();
  position.ahead = from.array<std::uint64_t>();
  return position;
}

// The field of a rule's state has a residual as well where it begins with this: format 3 is older
// than residuals.
constexpr std::uint64_t residual_mark = 0x3164'6973'6572'2e2e;

void write_rule(ByteWriter& to, const CarryOver& carry_over) {
  const std::span<const std::byte> rule(carry_over.rule), residual(carry_over.residual);
  if (residual.empty()) return to.array(rule);
  ByteWriter both;
  both.number(residual_mark);
  both.array(rule);
  both.array(residual);
  to.array(std::span<const std::byte>(both.bytes()));
}

void read_rule(ByteReader& from, CarryOver& carry_over) {
  carry_over.rule = from.array<std::byte>();
  ByteReader both(carry_over.rule);
  if (both.number<std::uint64_t>() != residual_mark) return;
  Bytes rule = both.array<std::byte>(), residual = both.array<std::byte>();
  if (!both.ended_well()) return;
  carry_over.rule = std::move(rule);
  carry_over.residual = std::move(residual);
}

Bytes to_bytes(const Checkpoint& c) {
  ByteWriter to;
  to.number<std::uint64_t>(c.facts.size());
  for (const auto& [name, value] : c.facts) {
    to.text(name);
    to.text(value);
  }
  to.number<std::uint64_t>(c.dimension);
  to.array(std::span<const std::byte>(c.sums));
  to.number<std::uint64_t>(c.legs.size());
  for (const GradientSet& leg : c.legs) leg.write(to);
  to.number(c.sampling.kind);
  to.number<std::uint64_t>(c.workers.size());
  for (const WorkerState& worker : c.workers) {
    to.number(worker.computed);
    write(to, worker.data);
    write_rule(to, worker.carry_over);
    to.array(std::span<const std::byte>(worker.carry_over.objective));
  }
  to.number<std::uint64_t>(c.absent.size());
  for (const DataPosition& position : c.absent) write(to, position);
  to.number(c.seconds);
  to.number(c.gradients);
  to.number(c.applications);
  to.number(c.samples);
  to.number(c.evaluations_since_best);
  return to.take();
}

Checkpoint from_bytes(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  Checkpoint c;
  for (auto left = from.number<std::uint64_t>(); left > 0 && from.ok(); --left) {
    const std::string name = from.text();
    c.facts[name] = from.text();
  }
  c.dimension = from.number<std::uint64_t>();
  c.sums = from.array<std::byte>();
  for (auto left = from.number<std::uint64_t>(); left > 0 && from.ok(); --left)
    c.legs.push_back(GradientSet::read(from));
  c.sampling.kind = from.number<Sampling::Kind>();
  if (c.sampling.kind > Sampling::dirichlet) from.fail();
  for (auto left = from.number<std::uint64_t>(); left > 0 && from.ok(); --left) {
    WorkerState worker;
    worker.computed = from.number<std::uint64_t>();
    worker.data = read_position(from);
    read_rule(from, worker.carry_over);
    worker.carry_over.objective = from.array<std::byte>();
    c.workers.push_back(std::move(worker));
  }
  for (auto left = from.number<std::uint64_t>(); left > 0 && from.ok(); --left)
    c.absent.push_back(read_position(from));
  c.seconds = from.number<double>();
  c.gradients = from.number<std::uint64_t>();
  c.applications = from.number<std::uint64_t>();
  c.samples = from.number<std::uint64_t>();
  c.evaluations_since_best = from.number<std::uint32_t>();
  if (!from.ended_well()) throw CorruptCheckpoint("has an unexpected structure");
  return c;
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  const Bytes plain = to_bytes(checkpoint);
  std::string file(sizeof(Header) + ZSTD_compressBound(plain.size()), '\0');
  const std::size_t packed = ZSTD_compress(
      file.data() + sizeof(Header), file.size() - sizeof(Header), plain.data(), plain.size(), fast);
  if (ZSTD_isError(packed)) throw std::runtime_error("zstd cannot pack a checkpoint");
  file.resize(sizeof(Header) + packed);
  Header header{magic, format, 0, plain.size(), packed, 0, 0};
  const auto hash = hash_of(header, std::as_bytes(std::span(file.data() + sizeof(Header), packed)));
  header.hash_low = hash.low64;
  header.hash_high = hash.high64;
  std::memcpy(file.data(), &header, sizeof(Header));
  return file;
}

Checkpoint decode(std::span<const std::byte> file) {
  Header header{};
  if (file.size() < sizeof(Header)) throw CorruptCheckpoint("is truncated");
  std::memcpy(&header, file.data(), sizeof(Header));
  if (header.magic != magic) throw CorruptCheckpoint("is not a checkpoint of dasgd");
  if (header.format != format)
    throw CorruptCheckpoint("is of format " + std::to_string(header.format) +
                            "; this dasgd reads format " + std::to_string(format));
  const auto packed = file.subspan(sizeof(Header));
  if (packed.size() < header.packed_size) throw CorruptCheckpoint("is truncated");
  if (packed.size() > header.packed_size) throw CorruptCheckpoint("is longer than its header says");
  const auto hash = hash_of(header, packed);
  if (hash.low64 != header.hash_low || hash.high64 != header.hash_high)
    throw CorruptCheckpoint("is damaged: its checksum does not match");
  if (!can_hold(packed, header.plain_size)) throw CorruptCheckpoint("cannot be unpacked by zstd");
  Bytes plain(header.plain_size);
  const std::size_t size =
      ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) || size != plain.size())
    throw CorruptCheckpoint("cannot be unpacked by zstd");
  return from_bytes(plain);
}

}  // namespace dasgd
