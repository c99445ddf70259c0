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
  release = 3,
  note = 4,
  beat = 5,
  goodbye = 6,
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

Decoded refuse(const char* why) { return Refusal{why}; }

Decoded read_gradient(ByteReader& in, std::size_t workers) {
  GradientHeader header;
  Gradient& g = header.gradient;
  g.name.origin = in.number<WorkerId>();
  g.name.sequence = in.number<std::uint32_t>();
  g.origin_step = in.number<std::uint64_t>();
  g.eta = in.number<double>();
  g.update.shift = in.number<std::int32_t>();
  header.numbers_bytes = in.number<std::uint64_t>();
  auto prefixes = in.array<std::uint32_t>();
  auto exceptions = in.array<GradientName>();
  if (!in.ended_well()) return refuse("a gradient's header has the wrong length");
  if (index(g.name.origin) >= workers || prefixes.size() > workers)
    return refuse("a gradient names a worker that does not exist");
  auto compute_set = GradientSet::from_parts(std::move(prefixes), std::move(exceptions));
  if (!compute_set || compute_set->size() != g.origin_step ||
      compute_set->prefix(g.name.origin) != g.name.sequence)
    return refuse("a gradient's compute set contradicts its name or step");
  if (!std::isfinite(g.eta) || g.update.shift < 0 || g.update.shift > 127)
    return refuse("a gradient's step size or shift is out of range");
  g.compute_set = *std::move(compute_set);
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

Decoded read_release(ByteReader& in, std::size_t workers) {
  Release release;
  release.origin = in.number<WorkerId>();
  release.released = in.number<std::uint64_t>();
  if (!in.ended_well() || index(release.origin) >= workers) return refuse("a release is malformed");
  return Message(release);
}

Decoded read_note(ByteReader& in) {
  Note note{in.array<std::byte>()};
  if (!in.ended_well()) return refuse("a note is malformed");
  return Message(std::move(note));
}

template <typename Empty>
Decoded read_empty(const ByteReader& in) {
  if (!in.ended_well()) return refuse("a message is longer than its kind");
  return Message(Empty{});
}

}  // namespace

Bytes encode_header(const Gradient& g) {
  ByteWriter out = begin(Kind::gradient);
  out.number(g.name.origin);
  out.number(g.name.sequence);
  out.number(g.origin_step);
  out.number(g.eta);
  out.number(static_cast<std::int32_t>(g.update.shift));
  out.number<std::uint64_t>(g.update.bytes().size());
  out.array(std::span(g.compute_set.prefixes()));
  out.array(std::span(g.compute_set.exceptions()));
  return end(std::move(out));
}

Bytes encode(const Announcement& announcement) {
  ByteWriter out = begin(Kind::announcement);
  out.number(announcement.origin);
  out.number(announcement.computed);
  return end(std::move(out));
}

Bytes encode(const Release& release) {
  ByteWriter out = begin(Kind::release);
  out.number(release.origin);
  out.number(release.released);
  return end(std::move(out));
}

Bytes encode(const Note& note) {
  ByteWriter out = begin(Kind::note);
  out.array(std::span(note.bytes));
  return end(std::move(out));
}

Bytes encode(const Beat&) { return end(begin(Kind::beat)); }

Bytes encode(const Goodbye&) { return end(begin(Kind::goodbye)); }

Decoded decode(std::span<const std::byte> bytes, std::size_t workers) {
  constexpr std::size_t shortest = 16;  // magic, version, kind, checksum
  if (bytes.size() < shortest) return refuse("a message is too short");
  const auto content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader in(content), sum(bytes.subspan(content.size()));
  if (in.number<std::uint32_t>() != magic) return refuse("these are not bytes of dasgd");
  if (in.number<std::uint16_t>() != version)
    return refuse("the message has another version; run the same dasgd everywhere");
  if (sum.number<std::uint64_t>() != checksum(content))
    return refuse("the message is damaged: its checksum is wrong");
  switch (in.number<Kind>()) {
    case Kind::gradient:
      return read_gradient(in, workers);
    case Kind::announcement:
      return read_announcement(in, workers);
    case Kind::release:
      return read_release(in, workers);
    case Kind::note:
      return read_note(in);
    case Kind::beat:
      return read_empty<Beat>(in);
    case Kind::goodbye:
      return read_empty<Goodbye>(in);
  }
  return refuse("the message is of an unknown kind");
}

}  // namespace dasgd::wire
