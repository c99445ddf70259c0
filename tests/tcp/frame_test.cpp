#include "dasgd/transport/tcp/frame.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <rapidcheck/gtest.h>
#include <string>

namespace dasgd::tcp {
namespace {

using ::testing::HasSubstr;

/// Keeps the frames it gets.
struct Kept {
  std::uint64_t most_body = 1 << 20;
  Bytes body;
  std::vector<std::pair<Bytes, Bytes>> frames;
};

Bytes framed(const Bytes& header, const Bytes& body) {
  const FrameHead head = frame_head(header, body);
  Bytes all(head.begin(), head.end());
  all.insert(all.end(), header.begin(), header.end());
  all.insert(all.end(), body.begin(), body.end());
  return all;
}

/// Feeds bytes in pieces of at most `piece`. Why they are refused, if they are.
std::optional<std::string> feed(FrameReader& reader, Kept& kept, std::span<const std::byte> bytes,
                                std::size_t piece = 1 << 20) {
  while (!bytes.empty()) {
    const auto wanted = reader.wanted();
    const std::size_t count = std::min({wanted.size(), bytes.size(), piece});
    std::memcpy(wanted.data(), bytes.data(), count);
    bytes = bytes.subspan(count);
    FrameReader::Step step = reader.arrived(count);
    if (step == FrameReader::Step::header) {
      if (reader.body_bytes() > kept.most_body) return "the body is too long";
      kept.body.resize(reader.body_bytes());
      step = reader.place(kept.body);
    }
    if (step == FrameReader::Step::refused) return reader.refusal();
    if (step == FrameReader::Step::frame) kept.frames.emplace_back(reader.take_header(), kept.body);
  }
  return std::nullopt;
}

RC_GTEST_PROP(Frames, ArriveWholeHoweverTheyAreCut, ()) {
  const auto texts = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(rc::gen::nonEmpty<std::string>(), rc::gen::arbitrary<std::string>()));
  const auto to_bytes = [](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return Bytes(bytes.begin(), bytes.end());
  };
  Bytes all;
  std::vector<std::pair<Bytes, Bytes>> sent;
  for (const auto& [header, body] : texts) {
    sent.emplace_back(to_bytes(header), to_bytes(body));
    const Bytes frame = framed(sent.back().first, sent.back().second);
    all.insert(all.end(), frame.begin(), frame.end());
  }
  FrameReader reader({});
  Kept kept;
  RC_ASSERT(!feed(reader, kept, all, *rc::gen::inRange<std::size_t>(1, 100)));
  RC_ASSERT(kept.frames == sent);
  RC_ASSERT(!reader.within_frame());
}

TEST(Frames, AnyChangedByteIsRefused) {
  const Bytes header(40, std::byte{7}), body(5, std::byte{9});
  const Bytes good = framed(header, body);
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x20};
    FrameReader reader({.header = 1000});
    Kept kept;
    const auto why = feed(reader, kept, bad);
    // A length that was changed to a longer one waits for bytes that never come.
    EXPECT_TRUE(why || reader.within_frame()) << at;
    EXPECT_TRUE(kept.frames.empty()) << at;
  }
}

TEST(Frames, CutAnywhereAreNeverReported) {
  const Bytes good = framed(Bytes(40, std::byte{7}), Bytes(5, std::byte{9}));
  for (std::size_t size = 0; size < good.size(); ++size) {
    FrameReader reader({});
    Kept kept;
    EXPECT_EQ(feed(reader, kept, std::span(good).first(size)), std::nullopt);
    EXPECT_TRUE(kept.frames.empty());
    EXPECT_EQ(reader.within_frame(), size > 0);
  }
}

TEST(Frames, LengthsAreRefusedBeforeMemoryIsTaken) {
  const auto refusal = [](std::uint32_t header_bytes, std::uint64_t body_bytes, Kept& kept) {
    Bytes bytes = framed(Bytes(8), {});
    std::memcpy(bytes.data() + 8, &header_bytes, sizeof header_bytes);
    std::memcpy(bytes.data() + 12, &body_bytes, sizeof body_bytes);
    FrameReader reader({.header = 1 << 20});
    return feed(reader, kept, bytes).value_or("");
  };
  Kept kept;
  EXPECT_THAT(refusal(0xffffffff, 0, kept), HasSubstr("4294967295 bytes, and at most 1048576"));
  EXPECT_THAT(refusal((1 << 20) + 1, 0, kept), HasSubstr("at most"));
  EXPECT_THAT(refusal(0, 1, kept), HasSubstr("damaged"));
  // A right checksum does not help: the reader of the body is asked.
  const Bytes large(2 << 20);
  const FrameHead head = frame_head(Bytes(1), large);
  FrameReader reader({});
  EXPECT_EQ(feed(reader, kept, head), std::nullopt);
  EXPECT_EQ(feed(reader, kept, Bytes(1)), "the body is too long");
  EXPECT_TRUE(kept.body.empty());
}

TEST(Frames, OfAnotherVersionAreNamed) {
  Bytes bytes = framed(Bytes(8), {});
  bytes[4] = std::byte{9};
  FrameReader reader({});
  Kept kept;
  EXPECT_THAT(*feed(reader, kept, bytes), HasSubstr("version 9"));
  // The head of version 1 is shorter: nobody waits for the rest of it.
  bytes[4] = std::byte{1};
  FrameReader waiting({});
  EXPECT_THAT(*feed(waiting, kept, std::span(bytes).first(28)), HasSubstr("version 1"));
}

// Inputs of another version would be refused at their first bytes.
TEST(Corpus, OfFramesIsOfThisVersion) {
  const auto frames_in = [](const std::string& name) {
    std::ifstream in(DASGD_SOURCE_DIR "/tests/fuzz/corpus/frames/" + name, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    FrameReader reader(FrameLimits{});
    Kept kept;
    EXPECT_EQ(feed(reader, kept, std::as_bytes(std::span(text))), std::nullopt) << name;
    return kept.frames.size();
  };
  EXPECT_EQ(frames_in("frame"), 1u);
  EXPECT_EQ(frames_in("greeting"), 1u);
  EXPECT_EQ(frames_in("session"), 3u);
}

}  // namespace
}  // namespace dasgd::tcp
