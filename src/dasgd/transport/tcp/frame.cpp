#include "dasgd/transport/tcp/frame.hpp"

#define XXH_INLINE_ALL
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>
#include <xxhash.h>

namespace dasgd::tcp {
namespace {

constexpr std::uint32_t link_magic = 0x4b4c5344;  // "DSLK"
constexpr std::uint16_t link_version = 2;

// As it travels, without padding.
#pragma pack(push, 1)
struct RawHead {
  std::uint32_t magic = link_magic;
  std::uint16_t version = link_version;
  std::uint16_t reserved = 0;
  std::uint32_t header_bytes = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t body_checksum = 0;
  std::uint64_t checksum = 0;
};
#pragma pack(pop)
static_assert(sizeof(RawHead) == sizeof(FrameHead));

// Of all that stands before it, which is the seed of the header's: one number for both.
std::uint64_t frame_checksum(const FrameHead& head, std::span<const std::byte> header) {
  constexpr std::size_t before = offsetof(RawHead, checksum);
  return XXH3_64bits_withSeed(header.data(), header.size(), XXH3_64bits(head.data(), before));
}

RawHead parsed(const FrameHead& bytes) {
  RawHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

}  // namespace

FrameHead frame_head(std::span<const std::byte> header, std::span<const std::byte> body) {
  RawHead head{.header_bytes = static_cast<std::uint32_t>(header.size()),
               .body_bytes = body.size(),
               .body_checksum = XXH3_64bits(body.data(), body.size())};
  FrameHead bytes{};
  std::memcpy(bytes.data(), &head, sizeof head);
  head.checksum = frame_checksum(bytes, header);
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

FrameReader::Step FrameReader::arrived(std::size_t count) {
  wanted_ = wanted_.subspan(count);
  if (!wanted_.empty()) return Step::part;
  switch (part_) {
    case Part::start:
      return read_start();
    case Part::head:
      return read_head();
    case Part::header:
      return read_header();
    case Part::body:
      return read_body();
  }
  return Step::part;
}

FrameReader::Step FrameReader::refuse(std::string why) {
  refusal_ = std::move(why);
  return Step::refused;
}

FrameReader::Step FrameReader::read_start() {
  const RawHead head = parsed(head_);
  if (head.magic != link_magic) return refuse("it sent bytes that are not a dasgd frame");
  if (head.version != link_version)
    return refuse(fmt::format("it uses version {} of the link format, this program version {}",
                              head.version, link_version));
  part_ = Part::head;
  wanted_ = std::span(head_).subspan(start_bytes);
  return Step::part;
}

FrameReader::Step FrameReader::read_head() {
  const RawHead head = parsed(head_);
  if (head.header_bytes > limits_.header)
    return refuse(fmt::format("a frame has a header of {} bytes, and at most {} are allowed",
                              head.header_bytes, limits_.header));
  if (head.reserved != 0 || (head.header_bytes == 0 && head.body_bytes != 0))
    return refuse("the head of a frame is damaged");
  header_.resize(head.header_bytes);
  part_ = Part::header;
  wanted_ = header_;
  return header_.empty() ? read_header() : Step::part;
}

FrameReader::Step FrameReader::read_header() {
  if (frame_checksum(head_, header_) != parsed(head_).checksum)
    return refuse("the checksum of a frame does not match");
  return header_.empty() ? finish() : Step::header;
}

std::uint64_t FrameReader::body_bytes() const { return parsed(head_).body_bytes; }

FrameReader::Step FrameReader::place(std::span<std::byte> body) {
  if (body.size() != body_bytes()) throw std::logic_error("a body needs a place of its length");
  part_ = Part::body;
  wanted_ = body_ = body;
  return body.empty() ? read_body() : Step::part;
}

FrameReader::Step FrameReader::read_body() {
  if (XXH3_64bits(body_.data(), body_.size()) != parsed(head_).body_checksum)
    return refuse("the checksum of a body does not match");
  return finish();
}

FrameReader::Step FrameReader::finish() {
  part_ = Part::start;
  wanted_ = std::span(head_).first(start_bytes);
  return Step::frame;
}

}  // namespace dasgd::tcp
