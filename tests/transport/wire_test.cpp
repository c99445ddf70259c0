#include "dasgd/transport/wire.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <xxhash.h>

#include "dasgd/random/random.hpp"

namespace dasgd::wire {
namespace {

constexpr std::size_t workers = 6;

/// A gradient as a worker that applied things in any order could have made it.
Gradient draw_gradient() {
  Gradient g;
  g.name.origin = worker_id(static_cast<std::size_t>(*rc::gen::inRange(0, 6)));
  for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 600)))
    if (worker_id(static_cast<std::size_t>(n) % 6) != g.name.origin)
      g.compute_set.insert(
          {worker_id(static_cast<std::size_t>(n) % 6), static_cast<std::uint32_t>(n) / 6});
  const int own = *rc::gen::inRange(0, 50);
  for (int k = 0; k < own; ++k)
    g.compute_set.insert({g.name.origin, static_cast<std::uint32_t>(k)});
  g.name.sequence = static_cast<std::uint32_t>(own);
  g.origin_step = g.compute_set.size();
  g.eta = *rc::gen::element(0.0, 0.05, -1e300, 5e-324);
  g.update.shift = *rc::gen::inRange(0, 128);
  g.samples = *rc::gen::arbitrary<std::uint32_t>();
  g.update.resize_bytes(static_cast<std::size_t>(*rc::gen::inRange(0, 25)) * 8,
                        *rc::gen::element(NumberFormat::of_float, NumberFormat::of_double));
  return g;
}

/// One of several gradients that are alike.
Bundle draw_bundle() {
  std::vector<GradientFacts> facts;
  for (std::uint32_t k = 0; k < 4; ++k) {
    facts.emplace_back();
    facts.back().name = {WorkerId{2}, k};
    for (std::uint32_t own = 0; own < k; ++own) facts.back().compute_set.insert({WorkerId{2}, own});
    facts.back().origin_step = k;
    facts.back().eta = 0.25 * k;
    facts.back().samples = *rc::gen::inRange<std::uint32_t>(0, 1000);
  }
  return {facts, NumberFormat::of_float, static_cast<std::size_t>(*rc::gen::inRange(0, 25)) * 8};
}

Bytes draw_message() {
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return encode(Announcement{WorkerId{2}, *rc::gen::arbitrary<std::uint32_t>()});
    case 1:
      return encode_header(draw_bundle());
    case 2:
      return encode(Note{Bytes(static_cast<std::size_t>(*rc::gen::inRange(0, 50)))});
    case 3:
      return encode(Beat{});
    case 4:
      return encode_loan(draw_gradient(), *rc::gen::arbitrary<std::uint32_t>());
    case 5:
      return encode_header_on_device(draw_gradient());
    case 6:
      return encode(Receipt{*rc::gen::arbitrary<std::uint64_t>()});
    default:
      return encode_header(draw_gradient());
  }
}

std::string refusal(std::span<const std::byte> bytes, std::size_t n = workers) {
  const Decoded decoded = decode(bytes, n);
  const auto* refused = std::get_if<WireRefusal>(&decoded);
  return refused ? refused->why : "";
}

template <typename Kind>
Kind accepted(std::span<const std::byte> bytes) {
  return std::get<Kind>(std::get<Message>(decode(bytes, workers)));
}

RC_GTEST_PROP(Wire, AGradientComesBackAsItWas, ()) {
  const Gradient g = draw_gradient();
  const std::uint64_t bytes = g.update.size_in_bytes();
  const auto packed = *rc::gen::inRange<std::uint64_t>(0, bytes + 1);
  const auto back =
      accepted<GradientHeader>(packed < bytes ? encode_header(g, packed) : encode_header(g));
  RC_ASSERT(back.packed_bytes == (packed < bytes ? std::optional(packed) : std::nullopt));
  RC_ASSERT(back.gradient.name == g.name);
  RC_ASSERT(back.gradient.origin_step == g.origin_step);
  RC_ASSERT(back.gradient.eta == g.eta);
  RC_ASSERT(back.gradient.samples == g.samples);
  RC_ASSERT(back.gradient.update.format() == g.update.format());
  RC_ASSERT(back.gradient.update.shift == g.update.shift);
  RC_ASSERT(back.gradient.compute_set == g.compute_set);
  RC_ASSERT(back.gradient.compute_set.exceptions() == g.compute_set.exceptions());
  RC_ASSERT(back.numbers_bytes == g.update.bytes().size());
  RC_ASSERT(!back.slot);
  RC_ASSERT(!back.on_device);
}

/// An update that nobody may bring here.
class OnDevice final : public DeviceUpdate {
 public:
  std::size_t size_in_bytes() const override { return 40; }
  bool ready() const override { return true; }
  int fetch(std::span<std::byte>) const override { throw std::logic_error("fetched"); }
};

RC_GTEST_PROP(Wire, AGradientOnADeviceStaysThere, ()) {
  Gradient g = draw_gradient();
  g.update.put(std::make_shared<OnDevice>(), NumberFormat::of_float);
  const auto back = accepted<GradientHeader>(encode_header_on_device(g));
  RC_ASSERT(back.on_device);
  RC_ASSERT(back.gradient.name == g.name);
  RC_ASSERT(back.gradient.compute_set == g.compute_set);
  RC_ASSERT(back.gradient.update.shift == 0);
  RC_ASSERT(back.gradient.update.format() == NumberFormat::of_float);
  RC_ASSERT(back.numbers_bytes == 40u);
}

RC_GTEST_PROP(Wire, AGradientThatIsLentSaysWhereItLies, ()) {
  const Gradient g = draw_gradient();
  const auto slot = *rc::gen::arbitrary<std::uint32_t>();
  const auto back = accepted<GradientHeader>(encode_loan(g, slot));
  RC_ASSERT(!back.packed_bytes);
  RC_ASSERT(back.gradient.name == g.name);
  RC_ASSERT(back.numbers_bytes == g.update.bytes().size());
  RC_ASSERT(back.slot == slot);
}

RC_GTEST_PROP(Wire, ABundleComesBackAsItWas, ()) {
  const Bundle bundle = draw_bundle();
  const std::uint64_t bytes = bundle.size_in_bytes();
  const auto packed = *rc::gen::inRange<std::uint64_t>(0, bytes + 1);
  const auto back = accepted<BundleHeader>(packed < bytes ? encode_header(bundle, packed)
                                                          : encode_header(bundle));
  RC_ASSERT(back.packed_bytes == (packed < bytes ? std::optional(packed) : std::nullopt));
  RC_ASSERT(back.format == bundle.format());
  RC_ASSERT(back.sums_bytes == bundle.bytes().size());
  RC_ASSERT(back.facts.size() == bundle.size());
  for (std::size_t k = 0; k < bundle.size(); ++k) {
    RC_ASSERT(back.facts[k].name == bundle.facts()[k].name);
    RC_ASSERT(back.facts[k].samples == bundle.facts()[k].samples);
    RC_ASSERT(back.facts[k].compute_set == bundle.facts()[k].compute_set);
  }
}

TEST(Wire, TheOtherMessagesComeBackAsTheyWere) {
  const auto announcement = accepted<Announcement>(encode(Announcement{WorkerId{3}, 77}));
  EXPECT_EQ(announcement.origin, WorkerId{3});
  EXPECT_EQ(announcement.computed, 77u);
  const Bytes note{std::byte{1}, std::byte{2}};
  EXPECT_EQ(accepted<Note>(encode(Note{note})).bytes, note);
  EXPECT_EQ(accepted<Receipt>(encode(Receipt{1ull << 40})).parcels, 1ull << 40);
  accepted<Beat>(encode(Beat{}));
  accepted<RankGoodbye>(encode(RankGoodbye{}));
}

RC_GTEST_PROP(Wire, EveryTruncationIsRefused, ()) {
  const Bytes bytes = draw_message();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    RC_ASSERT(refusal(std::span(bytes).first(length)) != "");
}

RC_GTEST_PROP(Wire, EveryChangedByteIsRefused, ()) {
  Bytes bytes = draw_message();
  const auto change = static_cast<std::byte>(*rc::gen::inRange(1, 256));
  for (std::byte& byte : bytes) {
    byte ^= change;
    RC_ASSERT(refusal(bytes) != "");
    byte ^= change;
  }
  RC_ASSERT(refusal(bytes) == "");
}

RC_GTEST_PROP(Wire, TrailingBytesAreRefused, ()) {
  Bytes bytes = draw_message();
  bytes.resize(bytes.size() + static_cast<std::size_t>(*rc::gen::inRange(1, 20)));
  RC_ASSERT(refusal(bytes) != "");
}

RC_GTEST_PROP(Wire, AnyBytesAreAcceptedOrRefusedButNeverHarm, ()) {
  const auto noise =
      *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
  RC_ASSERT(refusal(std::as_bytes(std::span(noise))) != "");
}

TEST(Wire, WhatCouldNotHaveBeenSentIsRefusedAlthoughItsChecksumIsRight) {
  Gradient g;
  g.name = {WorkerId{1}, 2};
  for (const std::uint32_t k : {0u, 1u}) g.compute_set.insert({WorkerId{1}, k});
  g.origin_step = 2;
  EXPECT_EQ(refusal(encode_header(g)), "");
  EXPECT_NE(refusal(encode_header(g), 1), "") << "worker 1 of 1";
  g.origin_step = 3;
  EXPECT_NE(refusal(encode_header(g)), "") << "|D(g)| is not s";
  g.origin_step = 2;
  g.name.sequence = 1;
  EXPECT_NE(refusal(encode_header(g)), "") << "it would know itself";
  g.name.sequence = 2;
  g.eta = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(encode_header(g)), "");
  g.eta = 1;
  g.update.shift = -1;
  EXPECT_NE(refusal(encode_header(g)), "");
  g.update.shift = 127;
  EXPECT_EQ(refusal(encode_header(g)), "");
  g.update.shift = 128;
  EXPECT_NE(refusal(encode_header(g)), "");
  EXPECT_NE(refusal(encode(Announcement{WorkerId{6}, 1})), "");
  EXPECT_NE(refusal(encode_header(Bundle())), "") << "an empty bundle";
  g.update.shift = 0;
  g.update.resize<float>(10);
  EXPECT_EQ(refusal(encode_header(g, 39)), "");
  EXPECT_NE(refusal(encode_header(g, 41)), "") << "longer than in memory";
}

/// With a number in it that is another, and the checksum that goes with it.
Bytes changed(Bytes message, std::size_t at, std::uint64_t number) {
  std::memcpy(message.data() + at, &number, sizeof(number));
  const std::size_t end = message.size() - sizeof(std::uint64_t);
  const std::uint64_t checksum = XXH3_64bits(message.data(), end);
  std::memcpy(message.data() + end, &checksum, sizeof(checksum));
  return message;
}

// A count costs no memory before what it counts is there.
TEST(Wire, AHugeCountIsRefused) {
  std::vector<GradientFacts> facts(2);
  for (std::uint32_t k = 0; k < 2; ++k) facts[k].name = {worker_id(k), 0};
  const Bytes bundle = encode_header(Bundle(std::move(facts), NumberFormat::of_float, 8));
  const std::size_t sums_at = 8 + sizeof(NumberFormat), packed_at = sums_at + 8,
                    count_at = packed_at + 8;
  const std::size_t prefixes_at = count_at + 8 + 28;
  EXPECT_EQ(refusal(changed(bundle, count_at, 2)), "");
  for (const std::uint64_t huge :
       {std::uint64_t{3}, std::uint64_t{1} << 62, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(refusal(changed(bundle, count_at, huge)), "a bundle's header has the wrong length");
    EXPECT_NE(refusal(changed(bundle, prefixes_at, huge)), "");
    EXPECT_NE(refusal(changed(bundle, packed_at, std::max<std::uint64_t>(huge, 9))), "");
  }
  EXPECT_EQ(refusal(changed(bundle, sums_at, 12)), "a bundle has a part of a number");
}

/// With the checksum of what they have become.
Bytes sealed(Bytes bytes) {
  const std::size_t content = bytes.size() - sizeof(std::uint64_t);
  const std::uint64_t sum = XXH3_64bits(bytes.data(), content);
  std::memcpy(bytes.data() + content, &sum, sizeof(sum));
  return bytes;
}

TEST(Wire, WhatOnlyOthersCouldHaveWrittenIsRefused) {
  constexpr std::size_t beginning = 8, format = sizeof(NumberFormat), number = 8;
  std::vector<GradientFacts> facts(2);
  facts[1].name.origin = WorkerId{1};
  Bytes twice = encode_header(Bundle(facts, NumberFormat::of_float, 8));
  const std::size_t first = beginning + format + 3 * number;
  const std::size_t each = (twice.size() - first - number) / 2;
  EXPECT_EQ(refusal(sealed(twice)), "");
  std::copy_n(twice.data() + first, each, twice.data() + first + each);
  EXPECT_EQ(refusal(sealed(twice)), "a bundle names a gradient twice");

  Bytes device = encode_header_on_device(Gradient());
  const std::size_t at = device.size() - 2 * number - format;
  EXPECT_EQ(refusal(sealed(device)), "");
  device[at - sizeof(std::int32_t)] = std::byte{1};
  EXPECT_EQ(refusal(sealed(device)), "a gradient has two shifts");

  Bytes strange = encode_header(Gradient());
  strange[at] = std::byte{77};
  EXPECT_EQ(refusal(sealed(strange)), "a gradient has numbers of an unknown format");
  Bytes unknown = encode(Beat{});
  unknown[beginning - 2] = std::byte{77};
  EXPECT_EQ(refusal(sealed(unknown)), "the message is of an unknown kind");
}

}  // namespace
}  // namespace dasgd::wire
