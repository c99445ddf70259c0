#include "dasgd/cluster/note_reader.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dasgd::cluster {
namespace {

Bytes note(int k) { return Bytes(1, static_cast<std::byte>(k)); }

TEST(NoteReader, ReadsEverythingInOrderBeforeItFinishes) {
  std::vector<std::pair<int, int>> read;
  NoteReader reader(
      [&](int from, const Bytes& n) { read.emplace_back(from, static_cast<int>(n.front())); },
      [](const std::string& why) { FAIL() << why; });
  for (int k = 0; k < 100; ++k) reader.add(k % 3, note(k));
  reader.finish();
  ASSERT_EQ(read.size(), 100u);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(read[static_cast<std::size_t>(k)], std::pair(k % 3, k));
}

TEST(NoteReader, ReadsWhileNobodyAsksForTheEnd) {
  std::counting_semaphore read(0);
  NoteReader reader([&](int, const Bytes&) { read.release(); },
                    [](const std::string& why) { FAIL() << why; });
  for (int k = 0; k < 100; ++k) {  // it may be about to wait
    reader.add(0, note(k));
    ASSERT_TRUE(read.try_acquire_for(std::chrono::minutes(1)));
  }
}

TEST(NoteReader, WhoAddsDoesNotWaitForWhoReads) {
  std::mutex slow;
  std::unique_lock lock(slow);
  int read = 0;
  NoteReader reader(
      [&](int, const Bytes&) {
        const std::lock_guard wait(slow);
        ++read;
      },
      [](const std::string& why) { FAIL() << why; });
  for (int k = 0; k < 99; ++k) reader.add(0, note(k));
  reader.add(0, Bytes(std::size_t{65} << 20));
  reader.add(0, note(100));  // whatever waits
  EXPECT_EQ(read, 0);
  lock.unlock();
  reader.finish();
  EXPECT_EQ(read, 101);
}

TEST(NoteReader, ReportsTheFirstFailureAndReadsNoMore) {
  std::vector<std::string> failures;
  int read = 0;
  NoteReader reader(
      [&](int, const Bytes&) {
        ++read;
        throw std::runtime_error("no note");
      },
      [&](const std::string& why) { failures.push_back(why); });
  for (int k = 0; k < 100; ++k) reader.add(0, note(k));
  reader.finish();
  EXPECT_EQ(read, 1);
  EXPECT_EQ(failures, std::vector<std::string>{"no note"});
}

}  // namespace
}  // namespace dasgd::cluster
