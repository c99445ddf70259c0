#include "dasgd/record/checkpoints/checkpoint.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
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

/// Plain bytes in a row, where large arrays stay in the checkpoint.
class Plain {
 public:
  template <typename T>
  void number(const T& value) {
    written_.number(value);
  }
  void text(std::string_view value) { written_.text(value); }
  void array(std::span<const std::byte> values) {
    written_.number<std::uint64_t>(values.size());
    arrays_.push_back({written_.bytes().size(), values});
  }
  void write(const GradientSet& set) { set.write(written_); }
  void write(const DataPosition& position) {
    written_.number(position.next);
    written_.array(std::span<const std::uint64_t>(position.ahead));
  }

  std::uint64_t size() const {
    std::uint64_t size = 0;
    for_each([&](std::span<const std::byte> piece, bool) { size += piece.size(); });
    return size;
  }
  /// Calls `visit(piece, is_last)`.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    const std::span<const std::byte> all(written_.bytes());
    std::size_t from = 0;
    for (const auto& [at, values] : arrays_) {
      visit(all.subspan(from, at - from), false);
      visit(values, false);
      from = at;
    }
    visit(all.subspan(from), true);
  }

 private:
  struct Array {
    std::size_t at;  // behind so many bytes that were written
    std::span<const std::byte> values;
  };
  ByteWriter written_;
  std::vector<Array> arrays_;
};

DataPosition read_position(ByteReader& from) {
  DataPosition position;
  position.next = from.number<std::uint64_t>();
  position.ahead = from.array<std::uint64_t>();
  return position;
}

// The field of a rule's state has a residual as well where it begins with this: format 3 is older
// than residuals.
constexpr std::uint64_t residual_mark = 0x3164'6973'6572'2e2e;

void write_rule(Plain& to, const CarryOver& carry_over) {
  const std::span<const std::byte> rule(carry_over.rule), residual(carry_over.residual);
  if (residual.empty()) return to.array(rule);
  to.number<std::uint64_t>(3 * sizeof(std::uint64_t) + rule.size() + residual.size());
  to.number(residual_mark);
  to.array(rule);
  to.array(residual);
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

Plain plain_of(const Checkpoint& c) {
  Plain to;
  to.number<std::uint64_t>(c.facts.size());
  for (const auto& [name, value] : c.facts) {
    to.text(name);
    to.text(value);
  }
  to.number<std::uint64_t>(c.dimension);
  to.array(c.sums);
  to.number<std::uint64_t>(c.legs.size());
  for (const GradientSet& leg : c.legs) to.write(leg);
  to.number(c.sampling.kind);
  to.number<std::uint64_t>(c.workers.size());
  for (const WorkerState& worker : c.workers) {
    to.number(worker.computed);
    to.write(worker.data);
    write_rule(to, worker.carry_over);
    to.array(worker.carry_over.objective);
  }
  to.number<std::uint64_t>(c.absent.size());
  for (const DataPosition& position : c.absent) to.write(position);
  to.number(c.seconds);
  to.number(c.gradients);
  to.number(c.applications);
  to.number(c.samples);
  to.number(c.evaluations_since_best);
  return to;
}

// Behind room for a header. Memory that nothing is written to is not taken.
std::string pack(const Plain& plain, std::uint64_t plain_size) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, fast);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), plain_size);
  std::string file;
  file.reserve(sizeof(Header) + ZSTD_compressBound(plain_size));
  file.resize(sizeof(Header));
  std::vector<char> row(ZSTD_CStreamOutSize());
  plain.for_each([&](std::span<const std::byte> piece, bool is_last) {
    ZSTD_inBuffer from{piece.data(), piece.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer to{row.data(), row.size(), 0};
      left =
          ZSTD_compressStream2(context.get(), &to, &from, is_last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) throw std::runtime_error("zstd cannot pack a checkpoint");
      file.append(row.data(), to.pos);
    } while (is_last ? left > 0 : from.pos < from.size);
  });
  return file;
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
  const Plain plain = plain_of(checkpoint);
  const std::uint64_t plain_size = plain.size();
  std::string file = pack(plain, plain_size);
  const std::size_t packed = file.size() - sizeof(Header);
  Header header{magic, format, 0, plain_size, packed, 0, 0};
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
