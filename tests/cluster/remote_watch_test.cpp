#include "dasgd/cluster/remote_watch.hpp"

#include <gtest/gtest.h>

namespace dasgd::cluster {
namespace {

constexpr mpi::RankLayout layout{.ranks = 3, .per_rank = 2};
const WorkerId worker = layout.worker(1, 1);

class RemoteWatchTest : public ::testing::Test {
 protected:
  void did(std::size_t lines, Nanoseconds up_to) {
    watch.add(worker, std::vector<TraceLine>(lines, TraceLine{.worker = worker}), up_to);
  }
  std::vector<TracePart> sent;
  RemoteWatch watch{layout, [this](const Message& m) { sent.push_back(std::get<TracePart>(m)); }};
};

TEST_F(RemoteWatchTest, ReportsEverythingThatComesSlowlyEnough) {
  did(3, 20'000'000);
  did(4, 50'000'000);
  EXPECT_TRUE(sent.empty()) << "not worth a message yet";
  did(5, RemoteWatch::every);
  did(6, RemoteWatch::every + 1);
  watch.flush();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].worker, worker);
  EXPECT_EQ(sent[0].lines.size(), 12u);
  EXPECT_EQ(sent[1].lines.size(), 6u);
  EXPECT_EQ(sent[0].left_out + sent[1].left_out, 0u);
}

TEST_F(RemoteWatchTest, HoldsAndSendsNoMoreThanAPageNeedsHoweverFastTheWorkerIs) {
  for (Nanoseconds t = 0; t < RemoteWatch::every; t += 1'000'000) did(512, t);
  did(512, RemoteWatch::every);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].lines.size(), RemoteWatch::lines_at_once);
  EXPECT_EQ(sent[0].lines.size() + sent[0].left_out, 101u * 512);
  did(1, 2 * RemoteWatch::every);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].left_out, 0u) << "sent once";
}

}  // namespace
}  // namespace dasgd::cluster
