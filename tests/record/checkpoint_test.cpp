#include "dasgd/record/checkpoints/checkpoint.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/record/checkpoints/checkpoint_directory.hpp"
#include "support/file_size_limit.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Checkpoint example(std::uint64_t gradients = 11) {
  Checkpoint c;
  c.facts = {{"model", "quadratic"}, {"seed", "1"}};
  c.dimension = 3;
  for (int i = 0; i < 48; ++i) c.sums.push_back(static_cast<std::byte>(i * 37));
  c.legs.resize(2);
  for (std::uint32_t k = 0; k < 4; ++k) c.legs[0].insert({WorkerId{0}, k});
  for (const std::uint32_t k : {0u, 5u, 6u}) c.legs[1].insert({WorkerId{1}, k});
  c.workers.resize(2);
  c.workers[0].data.next = 7;
  c.workers[0].data.ahead = {9, 12};
  c.workers[0].computed = 9;
  c.workers[0].carry_over.rule.assign(100, std::byte{3});
  c.workers[1].carry_over.objective.assign(20, std::byte{5});
  c.workers[1].carry_over.residual.assign(24, std::byte{7});
  c.workers[1].data.next = 2;
  c.sampling = Sampling::shards;
  c.absent = {{7, {9, 11}}};
  c.seconds = 12.5;
  c.gradients = gradients;
  c.applications = 27;
  c.samples = 640;
  c.evaluations_since_best = 2;
  return c;
}

Checkpoint decoded(const std::string& bytes) { return decode(std::as_bytes(std::span(bytes))); }

TEST(CheckpointTest, ReadsBackWhatWasWritten) {
  const Checkpoint c = example(), d = decoded(encode(c));
  EXPECT_EQ(d.facts, c.facts);
  EXPECT_EQ(d.dimension, c.dimension);
  EXPECT_EQ(d.sums, c.sums);
  EXPECT_EQ(d.legs, c.legs);
  EXPECT_EQ(d.legs[1].exceptions(), c.legs[1].exceptions());
  ASSERT_EQ(d.workers.size(), c.workers.size());
  for (std::size_t i = 0; i < c.workers.size(); ++i) {
    EXPECT_EQ(d.workers[i].data, c.workers[i].data);
    EXPECT_EQ(d.workers[i].carry_over, c.workers[i].carry_over);
    EXPECT_EQ(d.workers[i].computed, c.workers[i].computed);
  }
  EXPECT_EQ(d.sampling, c.sampling);
  EXPECT_EQ(d.absent, c.absent);
  EXPECT_EQ(d.position_of(c.workers.size()).next, 7u);
  EXPECT_EQ(d.position_of(c.workers.size() + 1), DataPosition{});
  EXPECT_EQ(d.seconds, c.seconds);
  EXPECT_EQ(d.gradients, c.gradients);
  EXPECT_EQ(d.applications, c.applications);
  EXPECT_EQ(d.samples, c.samples);
  EXPECT_EQ(d.evaluations_since_best, c.evaluations_since_best);
}

// In the field of the rule, behind a mark.
TEST(CheckpointTest, ReadsAResidualWhereOlderFilesKeepIt) {
  Checkpoint old = example();
  const Bytes rule(100, std::byte{3}), residual(48, std::byte{7});
  ByteWriter both;
  both.number<std::uint64_t>(0x3164'6973'6572'2e2e);
  both.array(std::span<const std::byte>(rule));
  both.array(std::span<const std::byte>(residual));
  old.workers[0].carry_over.rule = both.take();
  const Checkpoint read = decoded(encode(old));
  EXPECT_EQ(read.workers[0].carry_over.rule, rule);
  EXPECT_EQ(read.workers[0].carry_over.residual, residual);
}

TEST(CheckpointTest, EveryFlippedBitIsFound) {
  const std::string good = encode(example());
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_THROW(decoded(bad), CorruptCheckpoint) << i;
    }
}

TEST(CheckpointTest, AFileOfAnotherFormatIsRefusedNotMisread) {
  std::string old = encode(example());
  old[8] = 1;
  EXPECT_EQ(test::message_of<CorruptCheckpoint>([&] { decoded(old); }),
            "is of format 1; this dasgd reads format 3");
}

TEST(CheckpointTest, EveryOtherLengthIsFound) {
  const std::string good = encode(example());
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW(decoded(good.substr(0, length)), CorruptCheckpoint);
  EXPECT_THROW(decoded(good + "x"), CorruptCheckpoint);
}

RC_GTEST_PROP(CheckpointProperty, AnyBytesAreRefusedWithoutHarm, (const std::string& bytes)) {
  RC_ASSERT_THROWS_AS(decoded(bytes), CorruptCheckpoint);
}

class CheckpointDirectoryTest : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& path : checkpoints.files()) result.push_back(fs::path(path).filename());
    return result;
  }
  std::uint64_t newest() {
    refused.clear();
    const auto found =
        checkpoints.newest_good([&](const std::string& line) { refused.push_back(line); });
    return found ? found->gradients : 0;
  }
  test::TemporaryDirectory directory;
  CheckpointDirectory checkpoints{directory.file("checkpoints")};
  std::vector<std::string> refused;
};

TEST_F(CheckpointDirectoryTest, KeepsTheLastThree) {
  EXPECT_EQ(newest(), 0u);
  for (std::uint64_t i = 1; i <= 5; ++i) checkpoints.save(example(i));
  EXPECT_THAT(names(), ElementsAre("checkpoint-000003.dasgd", "checkpoint-000004.dasgd",
                                   "checkpoint-000005.dasgd"));
  EXPECT_EQ(newest(), 5u);
  EXPECT_TRUE(refused.empty());
}

TEST_F(CheckpointDirectoryTest, RefusesDamagedFilesByNameAndTakesTheOneBefore) {
  for (std::uint64_t i = 1; i <= 3; ++i) checkpoints.save(example(i));
  const auto files = checkpoints.files();
  std::string bytes = test::read_text(files[2]);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(files[2], std::ios::binary) << bytes;
  fs::resize_file(files[1], fs::file_size(files[1]) / 2);
  EXPECT_EQ(newest(), 1u);
  EXPECT_THAT(refused, ElementsAre(files[2] + ": is damaged: its checksum does not match",
                                   files[1] + ": is truncated"));
  checkpoints.save(example(4));
  EXPECT_EQ(newest(), 4u) << "and the next one is numbered after the damaged ones";
  fs::remove(checkpoints.files().back());
  fs::create_directory(directory.file("checkpoints") + "/checkpoint-000009.dasgd");
  EXPECT_EQ(newest(), 0u) << "a directory of that name is not a checkpoint, the others are damaged";
}

TEST_F(CheckpointDirectoryTest, AFullDiskLeavesTheOldOnes) {
  checkpoints.save(example(1));
  {
    const test::FileSizeLimit full(10);
    EXPECT_THAT(test::message_of<WriteError>([&] { checkpoints.save(example(2)); }),
                HasSubstr("checkpoint-000002.dasgd: cannot be written: File too large"));
  }
  EXPECT_EQ(newest(), 1u);
  checkpoints.save(example(3));
  EXPECT_EQ(newest(), 3u);
}

TEST_F(CheckpointDirectoryTest, ClearRemovesOnlyItsOwnFiles) {
  checkpoints.save(example(1));
  directory.write("checkpoints/checkpoint-000002.dasgd.partial", "left by a killed process");
  directory.write("checkpoints/notes.txt", "mine");
  checkpoints.clear();
  EXPECT_TRUE(checkpoints.files().empty());
  EXPECT_FALSE(fs::exists(directory.file("checkpoints/checkpoint-000002.dasgd.partial")));
  EXPECT_TRUE(fs::exists(directory.file("checkpoints/notes.txt")));
}

}  // namespace
}  // namespace dasgd
