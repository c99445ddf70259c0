#include "dasgd/elastic/incoming_frame.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "dasgd/core/packing.hpp"

namespace dasgd::elastic::test {
namespace {

struct Incoming : ::testing::Test {
  std::optional<std::span<std::byte>> begin(Message message, std::uint64_t bytes,
                                            IncomingFrame::Allowed allowed = {true, true}) {
    return frame.begin(std::move(message), bytes, allowed, options, *pool);
  }
  static BundleMessage two_gradients() {
    BundleMessage message;
    message.facts.resize(2);
    message.facts[0].name = {WorkerId{1}, 0};
    message.facts[1].name = {WorkerId{1}, 1};
    return message;
  }

  const ProtocolOptions options{.dimension = 2};
  const std::shared_ptr<GradientPool> pool = GradientPool::create(4);
  IncomingFrame frame;
};

TEST_F(Incoming, AGradientIsReadIntoItsPlace) {
  GradientMessage message;
  message.facts.name = {WorkerId{1}, 7};
  message.shift = 3;
  const auto place = begin(message, options.update_bytes());
  ASSERT_TRUE(place);
  ASSERT_EQ(place->size(), options.update_bytes());
  std::fill(place->begin(), place->end(), std::byte{5});
  EXPECT_TRUE(std::holds_alternative<GradientMessage>(frame.take_message().value()));
  const Parcel parcel = frame.take_parcel(options.format);
  ASSERT_TRUE(parcel.gradient);
  EXPECT_EQ(parcel.first_name(), (GradientName{WorkerId{1}, 7}));
  EXPECT_EQ(parcel.gradient->update.shift, 3);
  EXPECT_EQ(parcel.numbers()[0], std::byte{5});
  EXPECT_FALSE(frame.take_parcel(options.format));
}

TEST_F(Incoming, AGradientWithoutNumbersIsRefused) {
  EXPECT_FALSE(begin(GradientMessage{}, 0));
  EXPECT_FALSE(begin(two_gradients(), 0) && frame.take_parcel(options.format));
}

TEST_F(Incoming, FewerBytesAreUnpacked) {
  const Bytes numbers(options.update_bytes());
  const Bytes packed = pack(numbers, number_bytes(options.format));
  ASSERT_LT(packed.size(), numbers.size());
  const auto place = begin(GradientMessage{}, packed.size());
  ASSERT_TRUE(place);
  std::copy(packed.begin(), packed.end(), place->begin());
  const Parcel parcel = frame.take_parcel(options.format);
  ASSERT_TRUE(parcel.gradient);
  EXPECT_TRUE(std::ranges::equal(parcel.numbers(), numbers));
}

TEST_F(Incoming, ABundleIsUnpacked) {
  const Bytes sums(options.model_bytes());
  const Bytes packed = pack(sums, sum_bytes(options.format));
  const auto place = begin(two_gradients(), packed.size());
  ASSERT_TRUE(place);
  std::copy(packed.begin(), packed.end(), place->begin());
  const Parcel parcel = frame.take_parcel(options.format);
  ASSERT_TRUE(parcel.bundle);
  EXPECT_EQ(parcel.size(), 2u);
}

TEST_F(Incoming, MalformedNumbersAreNoGradient) {
  const auto place = begin(GradientMessage{}, 1);
  ASSERT_TRUE(place);
  (*place)[0] = std::byte{0xFF};
  EXPECT_FALSE(frame.take_parcel(options.format));
  ASSERT_TRUE(begin(two_gradients(), 0));
  EXPECT_FALSE(frame.take_parcel(options.format));
}

TEST_F(Incoming, AModelHasAPlaceOnlyIfItWasAskedFor) {
  EXPECT_FALSE(begin(Snapshot{}, options.model_bytes(), {true, false}));
  EXPECT_FALSE(frame.is_model());
  EXPECT_FALSE(begin(Snapshot{}, options.model_bytes() + 1));
  ASSERT_TRUE(begin(Snapshot{}, options.model_bytes()));
  EXPECT_TRUE(frame.is_model());
  EXPECT_EQ(frame.take_sums()->size(), options.model_bytes());
  EXPECT_FALSE(frame.is_model());
}

TEST_F(Incoming, GradientsHaveAPlaceOnlyAfterTheHello) {
  EXPECT_FALSE(begin(GradientMessage{}, options.update_bytes(), {false, true}));
  EXPECT_FALSE(begin(two_gradients(), 1, {false, true}));
}

TEST_F(Incoming, BodiesThatAreTooLongOrOfOtherNumbersHaveNoPlace) {
  EXPECT_FALSE(begin(GradientMessage{}, options.update_bytes() + 1));
  EXPECT_FALSE(begin(two_gradients(), 2 * options.model_bytes() + 17));
  GradientMessage doubles;
  doubles.format = NumberFormat::of_double;
  EXPECT_FALSE(begin(doubles, options.update_bytes()));
  EXPECT_FALSE(begin(Want{}, 1));
  EXPECT_TRUE(begin(Want{}, 0));
}

}  // namespace
}  // namespace dasgd::elastic::test
