#include "dasgd/data/draws/position.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

namespace dasgd {
namespace {

std::vector<std::vector<std::uint32_t>> draw(Batches& batches, std::size_t count) {
  std::vector<std::vector<std::uint32_t>> drawn;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rows = batches.next().rows;
    drawn.emplace_back(rows.begin(), rows.end());
  }
  return drawn;
}

RC_GTEST_PROP(BatchesProperty, SeekingIsDrawing, ()) {
  const auto samples = *rc::gen::inRange<std::size_t>(1, 60);
  const auto workers = *rc::gen::inRange<std::size_t>(1, 4);
  RC_PRE(samples >= workers);
  const auto batch = *rc::gen::inRange<std::size_t>(0, 9);
  const auto skipped = *rc::gen::inRange<std::size_t>(0, 50);
  const auto sampling = *rc::gen::element(Sampling::own, Sampling::shards);
  const Batches::Options options{7, sampling, workers, samples, batch};
  Batches drawing(options, WorkerId{0}), seeking(options, WorkerId{0});
  std::uint64_t number = 0;
  for (const auto& rows : draw(drawing, skipped))
    RC_ASSERT(seeking.shape().samples_of(number++) == rows.size());
  seeking.seek(skipped);
  RC_ASSERT(draw(seeking, 20) == draw(drawing, 20));
}

/// All that is done, by brute force.
std::set<std::uint64_t> done(const DataPosition& position) {
  std::set<std::uint64_t> all(position.ahead.begin(), position.ahead.end());
  for (std::uint64_t b = 0; b < position.next; ++b) all.insert(b);
  return all;
}

RC_GTEST_PROP(DataPositionProperty, FollowsFromTheGradientsThatAreInTheSet, ()) {
  DataPosition position;
  std::set<std::uint64_t> expected;
  for (int leg = 0; leg < 3; ++leg) {
    GradientSet applied(2);
    std::set<std::uint32_t> made;
    for (std::uint32_t k = 0; k < 15; ++k)
      if (*rc::gen::inRange(0, 3) > 0) made.insert(k);
    for (const std::uint32_t k : made) applied.insert({WorkerId{1}, k});
    applied.insert({WorkerId{0}, 3});
    // The worker draws what is not done, in order.
    std::vector<std::uint64_t> drawn;
    for (std::uint64_t b = 0; drawn.size() < 15; ++b)
      if (!expected.contains(b)) drawn.push_back(b);
    for (const std::uint32_t k : made) expected.insert(drawn[k]);

    position = position.after(applied, WorkerId{1});
    RC_ASSERT(done(position) == expected);
    RC_ASSERT(!expected.contains(position.next));
    RC_ASSERT(position.done() == expected.size());
  }
}

TEST(BatchesTest, PassOverWhatIsDone) {
  Batches all({.samples = 100, .batch = 3}, WorkerId{0});
  Batches some({.samples = 100, .batch = 3}, WorkerId{0});
  const auto drawn = draw(all, 10);
  some.seek(2, {4, 5, 8});
  EXPECT_EQ(draw(some, 5), (std::vector{drawn[2], drawn[3], drawn[6], drawn[7], drawn[9]}));
}

TEST(DataPosition, IsDealtEvenlyToAnotherNumberOfWorkers) {
  const std::vector<BatchShape> shapes{{50, 8}, {50, 8}};         // 7 batches each
  for (const DataPosition& position : redistribute(350, shapes))  // three epochs and a half
    EXPECT_EQ(position, (DataPosition{25, {}}));
  const std::vector<BatchShape> whole{{100, 0}, {100, 0}, {100, 0}};
  for (const DataPosition& position : redistribute(900, whole)) EXPECT_EQ(position.next, 3u);
}

}  // namespace
}  // namespace dasgd
