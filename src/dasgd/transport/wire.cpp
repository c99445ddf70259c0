#include "dasgd/transport/wire.hpp"

#define XXH_INLINE_ALL
#include <cmath>
#include <utility>
#include <xxhash.h>

namespace dasgd::wire {
namespace {

enum class Kind : std::uint16_t {
  gradient = 1,
  announcement = 2,
  bundle = 3,
  note = 4,
  beat = 5,
  goodbye = 6,
  loan = 7,
  gradient_on_device = 8,
  receipt = 9,
};

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

ByteWriter begin(Kind kind) {
  ByteWriter out;
  out.number(magic);
  out.number(version);
  out.number(kind);
  return out;
}

Bytes end(ByteWriter out) {
  out.number(checksum(out.bytes()));
  return out.take();
}

Decoded refuse(const char* why) { return WireRefusal{why}; }

void write(ByteWriter& out, const GradientFacts& g) {
  out.number(g.name.origin);
  out.number(g.name.sequence);
  out.number(g.origin_step);
  out.number(g.eta);
  out.number(g.samples);
  g.compute_set.write(out);
}

GradientFacts read_facts(ByteReader& in) {
  GradientFacts g;
  g.name.origin = in.number<WorkerId>();
  g.name.sequence = in.number<std::uint32_t>();
  g.origin_step = in.number<std::uint64_t>();
  g.eta = in.number<double>();
  g.samples = in.number<std::uint32_t>();
  g.compute_set = GradientSet::read(in);
  return g;
}

// All of it but what only one kind has.
ByteWriter begin_gradient(Kind kind, const Gradient& g, int shift) {
  ByteWriter out = begin(kind);
  write(out, g);
  out.number(static_cast<std::int32_t>(shift));
  out.number(g.update.format());
  out.number<std::uint64_t>(g.update.size_in_bytes());
  return out;
}

// How many bytes follow: fewer than there are in memory if they are packed.
std::optional<std::uint64_t> read_packed_bytes(ByteReader& in, std::uint64_t in_memory) {
  const auto following = in.number<std::uint64_t>();
  if (following > in_memory) in.fail();
  return following < in_memory ? std::optional(following) : std::nullopt;
}

// Why these cannot be the facts of a gradient of this run; null if they can.
const char* contradiction(const GradientFacts& g, std::size_t workers) {
  if (index(g.name.origin) >= workers || g.compute_set.prefixes().size() > workers)
    return "a gradient names a worker that does not exist";
  if (g.compute_set.size() != g.origin_step ||
      g.compute_set.prefix(g.name.origin) != g.name.sequence)
    return "a gradient's compute set contradicts its name or step";
  if (!std::isfinite(g.eta)) return "a gradient's step size is not a finite number";
  return nullptr;
}

bool is_format(NumberFormat format) {
  return format == NumberFormat::of_float || format == NumberFormat::of_double;
}

Decoded read_gradient(ByteReader& in, std::size_t workers, Kind kind) {
  GradientHeader header;
  header.on_device = kind == Kind::gradient_on_device;
  static_cast<GradientFacts&>(header.gradient) = read_facts(in);
  const auto shift = in.number<std::int32_t>();
  const auto format = in.number<NumberFormat>();
  header.numbers_bytes = in.number<std::uint64_t>();
  if (kind == Kind::loan) header.slot = in.number<std::uint32_t>();
  if (kind == Kind::gradient) header.packed_bytes = read_packed_bytes(in, header.numbers_bytes);
  if (!in.ended_well()) return refuse("a gradient's header has the wrong length");
  if (const char* why = contradiction(header.gradient, workers)) return refuse(why);
  if (shift < 0 || shift > 127) return refuse("a gradient's shift is out of range");
  if (header.on_device && shift != 0) return refuse("a gradient has two shifts");
  if (!is_format(format)) return refuse("a gradient has numbers of an unknown format");
  header.gradient.update.shift = shift;
  header.gradient.update.resize_bytes(0, format);
  return Message(std::move(header));
}

Decoded read_bundle(ByteReader& in, std::size_t workers) {
  BundleHeader header;
  header.format = in.number<NumberFormat>();
  header.sums_bytes = in.number<std::uint64_t>();
  header.packed_bytes = read_packed_bytes(in, header.sums_bytes);
  GradientSet names;
  for (auto left = in.number<std::uint64_t>(); left > 0 && in.ok(); --left) {
    header.facts.push_back(read_facts(in));
    if (!in.ok()) break;
    if (const char* why = contradiction(header.facts.back(), workers)) return refuse(why);
    if (!names.insert(header.facts.back().name)) return refuse("a bundle names a gradient twice");
  }
  if (!in.ended_well()) return refuse("a bundle's header has the wrong length");
  if (header.facts.empty()) return refuse("a bundle is empty");
  if (!is_format(header.format)) return refuse("a bundle has numbers of an unknown format");
  if (header.sums_bytes % sum_bytes(header.format) != 0)
    return refuse("a bundle has a part of a number");
  return Message(std::move(header));
}

Decoded read_announcement(ByteReader& in, std::size_t workers) {
  Announcement announcement;
  announcement.origin = in.number<WorkerId>();
  announcement.computed = in.number<std::uint32_t>();
  if (!in.ended_well() || index(announcement.origin) >= workers)
    return refuse("an announcement is malformed");
  return Message(announcement);
}

Decoded read_note(ByteReader& in) {
  Note note{in.array<std::byte>()};
  if (!in.ended_well()) return refuse("a note is malformed");
  return Message(std::move(note));
}

Decoded read_receipt(ByteReader& in) {
  const Receipt receipt{in.number<std::uint64_t>()};
  if (!in.ended_well()) return refuse("a receipt is malformed");
  return Message(receipt);
}

template <typename Empty>
Decoded read_empty(const ByteReader& in) {
  if (!in.ended_well()) return refuse("a message is longer than its kind");
  return Message(Empty{});
}

}  // namespace

Bytes encode_header(const Gradient& g, std::optional<std::uint64_t> packed_bytes) {
  g.update.bytes();  // the shift is known when the numbers are here
  ByteWriter out = begin_gradient(Kind::gradient, g, g.update.shift);
  out.number<std::uint64_t>(packed_bytes.value_or(g.update.size_in_bytes()));
  return end(std::move(out));
}

Bytes encode_loan(const Gradient& g, std::uint32_t slot) {
  g.update.bytes();
  ByteWriter out = begin_gradient(Kind::loan, g, g.update.shift);
  out.number(slot);
  return end(std::move(out));
}

Bytes encode_header_on_device(const Gradient& g) {
  return end(begin_gradient(Kind::gradient_on_device, g, 0));
}

Bytes encode_header(const Bundle& bundle, std::optional<std::uint64_t> packed_bytes) {
  ByteWriter out = begin(Kind::bundle);
  out.number(bundle.format());
  out.number<std::uint64_t>(bundle.size_in_bytes());
  out.number<std::uint64_t>(packed_bytes.value_or(bundle.size_in_bytes()));
  out.number<std::uint64_t>(bundle.size());
  bundle.for_each([&](const GradientFacts& g) { write(out, g); });
  return end(std::move(out));
}

Bytes encode(const Announcement& announcement) {
  ByteWriter out = begin(Kind::announcement);
  out.number(announcement.origin);
  out.number(announcement.computed);
  return end(std::move(out));
}

Bytes encode(const Note& note) {
  ByteWriter out = begin(Kind::note);
  out.array(std::span(note.bytes));
  return end(std::move(out));
}

Bytes encode(const Receipt& receipt) {
  ByteWriter out = begin(Kind::receipt);
  out.number(receipt.parcels);
  return end(std::move(out));
}

Bytes encode(const Beat&) { return end(begin(Kind::beat)); }

Bytes encode(const RankGoodbye&) { return end(begin(Kind::goodbye)); }

Decoded decode(std::span<const std::byte> bytes, std::size_t workers) {
  constexpr std::size_t shortest = 16;  // magic, version, kind, checksum
  if (bytes.size() < shortest) return refuse("a message is too short");
  const auto content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader in(content), sum(bytes.subspan(content.size()));
  if (in.number<std::uint32_t>() != magic) return refuse("these bytes are not a dasgd message");
  if (in.number<std::uint16_t>() != version)
    return refuse("the message has another version; run the same dasgd everywhere");
  if (sum.number<std::uint64_t>() != checksum(content))
    return refuse("the message is damaged: its checksum is wrong");
  switch (const auto kind = in.number<Kind>()) {
    case Kind::gradient:
    case Kind::loan:
    case Kind::gradient_on_device:
      return read_gradient(in, workers, kind);
    case Kind::announcement:
      return read_announcement(in, workers);
    case Kind::bundle:
      return read_bundle(in, workers);
    case Kind::note:
      return read_note(in);
    case Kind::receipt:
      return read_receipt(in);
    case Kind::beat:
      return read_empty<Beat>(in);
    case Kind::goodbye:
      return read_empty<RankGoodbye>(in);
  }
  return refuse("the message is of an unknown kind");
}

}  // namespace dasgd::wire
