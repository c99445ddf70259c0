#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "dasgd/core/error.hpp"
#include "dasgd/data/draws/loader.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/data/text_samples.hpp"
#include "support/message.hpp"
#include "support/tiny_images.hpp"

namespace dasgd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint32_t> rows(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

SampleBatch gather(const Samples& samples, std::span<const std::uint32_t> rows,
                   Random* chance = nullptr) {
  SampleBatch batch;
  samples.gather(Part::train, rows, chance, batch);
  return batch;
}

TEST(ImageSamples, AreNormalisedPerChannel) {
  const auto prepared = image_samples(test::tiny_image_set(8));
  const PreparedSamples& samples = *prepared;
  const SampleBatch batch = gather(samples, rows(200));
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t p = 64; p < 128; ++p) {  // the green of every image
      sum += batch.inputs[i * 192 + p];
      squares += batch.inputs[i * 192 + p] * batch.inputs[i * 192 + p];
    }
  EXPECT_NEAR(sum / 12'800, 0, 1e-4);
  EXPECT_NEAR(squares / 12'800, 1, 1e-3);
  EXPECT_THAT(samples.format().input, ElementsAre(3, 8, 8));
}

TEST(ImageSamples, AFlipMirrorsRowsAndACropMovesThem) {
  const auto set = test::tiny_image_set(8);
  const auto plain = image_samples(set),
             flipping = image_samples(set, {.augmentation = {.flip = true}}),
             cropping = image_samples(set, {.augmentation = {.crop = 2}});
  const auto row = rows(1);
  const SampleBatch before = gather(*plain, row);
  bool mirrored = false, moved = false;
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    Random chance(1, Purpose::test, draw);
    const SampleBatch after = gather(*flipping, row, &chance);
    if (after.inputs == before.inputs) continue;
    mirrored = true;
    for (std::size_t at = 0; at < 192; ++at)
      EXPECT_EQ(after.inputs[at], before.inputs[at / 8 * 8 + 7 - at % 8]);
  }
  EXPECT_TRUE(mirrored);
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    Random chance(1, Purpose::test, draw);
    moved = moved || gather(*cropping, row, &chance).inputs != before.inputs;
  }
  EXPECT_TRUE(moved);
  EXPECT_EQ(gather(*cropping, row).inputs, before.inputs) << "only where chance is given";
}

TEST(TextSamples, TargetsAreTheNextCharacters) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "abcd";
  const TextSamples samples(text, 8, "t.txt");
  EXPECT_EQ(samples.format().classes, 4u);
  EXPECT_EQ(samples.count(Part::train) + samples.count(Part::validation), 24u);
  const SampleBatch batch = gather(samples, rows(1));
  EXPECT_THAT(batch.tokens, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(batch.labels, ElementsAre(1, 2, 3, 0, 1, 2, 3, 0));
  EXPECT_THAT(test::message_of<InputError>([] { TextSamples("too short", 8, "t.txt"); }),
              HasSubstr("t.txt: has 9 characters; at least 161"));
}

TEST(TextSamples, AShareThatHoldsNothingOutIsRefused) {
  const std::string text(200, 'a');
  const auto refusal = [&](double share) {
    return test::message_of<InputError>([&] { TextSamples(text, 8, "t.txt", share); });
  };
  EXPECT_THAT(refusal(0.01), HasSubstr("t.txt: 24 samples cannot be split by `validation` 0.01"));
  EXPECT_EQ(refusal(0), "");
}

TEST(TextSamples, ReadsALongText) {
  std::string text;
  for (int line = 0; line < 20'000; ++line)
    text += "Worker " + std::to_string(line % 100) + " applies, computes & sends: nobody waits!\n";
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("long.txt", text);
  const TextSamples samples(read_text_file(path), 64, path);
  EXPECT_EQ(samples.format().classes, std::set(text.begin(), text.end()).size());
  EXPECT_EQ(samples.count(Part::train) + samples.count(Part::validation), (text.size() - 1) / 64);
  EXPECT_GT(samples.count(Part::train), 8 * samples.count(Part::validation));
}

/// Says who gathered and waits where it is asked to.
class SlowSamples final : public Samples {
 public:
  const SampleFormat& format() const override { return format_; }
  const Preprocessing* preprocessing() const override { return nullptr; }
  std::string origin(Part) const override { return ""; }
  std::size_t count(Part) const override { return 100; }
  void gather(Part, Rows rows, Random*, SampleBatch& batch) const override {
    ++gathered;
    batch.labels.assign(rows.begin(), rows.end());
  }
  mutable std::atomic<int> gathered{0};

 private:
  SampleFormat format_;
};

TEST(Loader, GathersEachBatchOnceWhoeverIsFirst) {
  const SlowSamples samples;
  {
    Loader loader;
    for (std::uint32_t k = 0; k < 1000; ++k) {
      const std::vector<std::uint32_t> wanted{k % 100};
      auto batch = std::make_shared<PendingBatch>(samples, wanted, std::nullopt, SampleBatch{});
      loader.request(batch);
      EXPECT_TRUE(batch->is_for(wanted));
      EXPECT_THAT(batch->get().labels, ElementsAre(k % 100));
    }
  }
  EXPECT_EQ(samples.gathered, 1000);
}

}  // namespace
}  // namespace dasgd
