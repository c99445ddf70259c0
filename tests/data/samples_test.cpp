#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "dasgd/core/error.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/data/loader.hpp"
#include "dasgd/data/rows/table_samples.hpp"
#include "dasgd/data/text_samples.hpp"
#include "support/message.hpp"
#include "support/questionnaire.hpp"
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
  samples.gather(Split::train, rows, chance, batch);
  return batch;
}

TEST(ImageSamples, AreNormalisedPerChannel) {
  const ImageSamples samples(test::tiny_image_set(8));
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
  const ImageSamples plain(set), flipping(set, {.flip = true}), cropping(set, {.crop = 2});
  const auto row = rows(1);
  const SampleBatch before = gather(plain, row);
  bool mirrored = false, moved = false;
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    Random chance(1, Purpose::test, draw);
    const SampleBatch after = gather(flipping, row, &chance);
    if (after.inputs == before.inputs) continue;
    mirrored = true;
    for (std::size_t at = 0; at < 192; ++at)
      EXPECT_EQ(after.inputs[at], before.inputs[at / 8 * 8 + 7 - at % 8]);
  }
  EXPECT_TRUE(mirrored);
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    Random chance(1, Purpose::test, draw);
    moved = moved || gather(cropping, row, &chance).inputs != before.inputs;
  }
  EXPECT_TRUE(moved);
  EXPECT_EQ(gather(cropping, row).inputs, before.inputs) << "only where chance is given";
}

TEST(TextSamples, TargetsAreTheNextCharacters) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "abcd";
  const TextSamples samples(text, 8, "t.txt");
  EXPECT_EQ(samples.format().classes, 4u);
  EXPECT_EQ(samples.count(Split::train) + samples.count(Split::test), 24u);
  const SampleBatch batch = gather(samples, rows(1));
  EXPECT_THAT(batch.tokens, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(batch.labels, ElementsAre(1, 2, 3, 0, 1, 2, 3, 0));
  EXPECT_THAT(test::message_of<InputError>([] { TextSamples("too short", 8, "t.txt"); }),
              HasSubstr("t.txt: has 9 characters; at least 161"));
}

TEST(TextSamples, ReadsALongText) {
  std::string text;
  for (int line = 0; line < 20'000; ++line)
    text += "Worker " + std::to_string(line % 100) + " applies, computes & sends: nobody waits!\n";
  const test::TemporaryDirectory directory;
  const TextSamples samples = read_text_samples(directory.write("long.txt", text), 64);
  EXPECT_EQ(samples.format().classes, std::set(text.begin(), text.end()).size());
  EXPECT_EQ(samples.count(Split::train) + samples.count(Split::test), (text.size() - 1) / 64);
  EXPECT_GT(samples.count(Split::train), 8 * samples.count(Split::test));
}

class Csv : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text, bool classes = true) {
    const std::string path = directory.write("t.csv", text);
    return test::message_of<InputError>([&] { TableSamples(read_csv(path), classes, path); });
  }
  static std::string table(int count) {
    std::string text = "a,b,class\n";
    for (int i = 0; i < count; ++i)
      text += std::to_string(i) + "," + std::to_string(-2 * i) + "," + std::to_string(i % 3) + "\n";
    return text;
  }
  test::TemporaryDirectory directory;
};

TEST_F(Csv, ReadsAHeaderAndClasses) {
  const std::string path = directory.write("t.csv", table(40));
  const TableSamples samples(read_csv(path), true, path);
  EXPECT_EQ(samples.count(Split::train), 36u);
  EXPECT_EQ(samples.count(Split::test), 4u);
  EXPECT_EQ(samples.format().classes, 3u);
  const SampleBatch batch = gather(samples, rows(36));
  EXPECT_NEAR(std::accumulate(batch.inputs.begin(), batch.inputs.end(), 0.0), 0, 1e-4);
  EXPECT_THAT(gather(TableSamples(read_csv(path), false, path), rows(2)).values, ElementsAre(0, 1));
}

TEST_F(Csv, AFirstRowWithANumberIsNoHeader) {
  EXPECT_THAT(refusal("nan,1,0\n" + table(40)),
              HasSubstr("t.csv:1: column 1: \"nan\" is not finite"));
  EXPECT_THAT(refusal("1,1e300,0\n"),
              HasSubstr("t.csv:1: column 2: \"1e300\" is beyond the range"));
  EXPECT_THAT(refusal("1,a\x1b[2Jb,0\n"), HasSubstr("t.csv:1: column 2: \"a?[2Jb\" is not"));
  const std::string path = directory.write("t.csv",
                                           "\xEF\xBB\xBF"
                                           "1,2,0\n3,4,1\n");
  EXPECT_THAT(read_csv(path).inputs, ElementsAre(1, 2, 3, 4));
}

TEST_F(Csv, RefusesWhatIsNotATable) {
  EXPECT_THAT(refusal(table(40) + "1,2\n"), HasSubstr("t.csv:42: has 2 columns"));
  EXPECT_THAT(refusal(table(40) + "1,x,2\n"),
              HasSubstr("t.csv:42: column 2: \"x\" is not a number"));
  EXPECT_THAT(refusal(table(40) + "1,2,-1\n"), HasSubstr("row 41 has target -1"));
  EXPECT_THAT(refusal(table(40) + "1,2,0.5\n"), HasSubstr("for numbers use --loss mse"));
  EXPECT_THAT(refusal(table(5)), HasSubstr("has 5 rows; at least 20"));
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("holds no rows"));
}

TEST(TableSamples, TakesLibsvmRows) {
  const test::TemporaryDirectory directory;
  const auto made = test::questionnaire(8000, "1", "2");
  const std::string path = directory.write("made", made.text);
  const TableSamples samples(dense(read_libsvm(path), path), true, path);
  EXPECT_EQ(samples.format().classes, 2u);
  EXPECT_EQ(samples.count(Split::train) + samples.count(Split::test), made.rows);
}

/// Says who gathered and waits where it is told to.
class SlowSamples final : public Samples {
 public:
  const SampleFormat& format() const override { return format_; }
  std::size_t count(Split) const override { return 100; }
  void gather(Split, Rows rows, Random*, SampleBatch& batch) const override {
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
