// What ranks that perform a rival send each other is read whole or not at all.
#include "dasgd/lab/ranks/packed_message.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

namespace dasgd::packed_messages {
namespace {

constexpr std::size_t participants = 8;

auto read(const std::vector<std::byte>& bytes) { return unpacked<float>(bytes, participants); }

RivalMessage<float> message() {
  RivalMessage<float> made;
  made.numbers = std::make_shared<const std::vector<float>>(std::vector{1.F, 2.F, 3.F});
  made.version = 4;
  made.tag = 5;
  made.weight = 0.5;
  made.from = 6;
  made.share = 0.25;
  return made;
}

TEST(PackedMessage, ComesBackAsItWas) {
  const auto back = read(packed(7, message()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->first, 7u);
  EXPECT_EQ(*back->second.numbers, *message().numbers);
  EXPECT_EQ(back->second.version, 4u);
  EXPECT_EQ(back->second.tag, 5u);
  EXPECT_EQ(back->second.weight, 0.5);
  EXPECT_EQ(back->second.from, 6u);
  EXPECT_EQ(back->second.share, 0.25);
  const auto without = read(packed(7, RivalMessage<float>{}));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->second.numbers, nullptr);
}

TEST(PackedMessage, IsRefusedUnlessWhole) {
  const auto bytes = packed(7, message());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read({bytes.begin(), bytes.begin() + static_cast<long>(size)})) << size;
  auto longer = bytes;
  longer.resize(bytes.size() + sizeof(float));
  EXPECT_FALSE(read(longer));
  EXPECT_FALSE(unpacked<double>(bytes, participants));
}

TEST(PackedMessage, WhatNoRankWouldSendIsRefused) {
  const auto is_read = [](const std::function<void(MessageHeader&)>& change) {
    auto bytes = packed(7, message());
    MessageHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    change(header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    return read(bytes).has_value();
  };
  EXPECT_TRUE(is_read([](MessageHeader&) {}));
  EXPECT_FALSE(is_read([](MessageHeader& h) { h.numbers = 1ull << 62; }));
  EXPECT_FALSE(is_read([](MessageHeader& h) { h.has_numbers = 2; }));
  EXPECT_FALSE(is_read([](MessageHeader& h) { h.has_numbers = 0; }));
  EXPECT_FALSE(is_read([](MessageHeader& h) { h.to = participants; }));
  EXPECT_FALSE(is_read([](MessageHeader& h) { h.from = participants; }));
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const double share : {-0.1, none, std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(is_read([&](MessageHeader& h) { h.share = share; })) << share;
}

}  // namespace
}  // namespace dasgd::packed_messages
