#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dasgd/transport/tcp/frame.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace dasgd;

// The frames in the bytes, given in pieces of at most `piece`.
int read(std::span<const std::byte> bytes, std::size_t piece) {
  tcp::FrameReader reader({.header = 4096});
  Bytes body(4096);
  int frames = 0;
  while (!bytes.empty()) {
    const auto wanted = reader.wanted();
    if (wanted.empty()) throw std::logic_error("nothing is wanted");
    const std::size_t count = std::min({wanted.size(), bytes.size(), piece});
    std::memcpy(wanted.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    tcp::FrameReader::Step step = reader.arrived(count);
    if (step == tcp::FrameReader::Step::header) {
      if (reader.header().empty()) throw std::logic_error("a body of nothing");
      if (reader.body_bytes() > body.size()) break;
      step = reader.place(std::span(body).first(reader.body_bytes()));
    }
    if (step == tcp::FrameReader::Step::refused) break;
    if (step != tcp::FrameReader::Step::frame) continue;
    if (reader.take_header().size() > 4096) throw std::logic_error("a giant header");
    ++frames;
  }
  return frames;
}

}  // namespace

// As they are; and as header and body of right frames, cut in every way: the first byte says where.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (read(bytes, 1) != read(bytes, bytes.size())) throw std::logic_error("pieces matter");
  if (size < 2) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const auto content = bytes.subspan(1);
  const auto header = content.first(std::min({content.size(), piece, std::size_t{4096}}));
  const auto body =
      content.subspan(header.size(), std::min<std::size_t>(content.size() - header.size(), 4096));
  const auto head = tcp::frame_head(header, body);
  Bytes frame(head.begin(), head.end());
  frame.insert(frame.end(), header.begin(), header.end());
  frame.insert(frame.end(), body.begin(), body.end());
  if (read(frame, piece) != 1) throw std::logic_error("a right frame was not read");
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  read(frame, piece);
  return 0;
}
