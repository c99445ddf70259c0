#include "dasgd/report/trace_digest.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck/gtest.h>

namespace dasgd::report {
namespace {

TraceLine own(std::size_t worker, Nanoseconds start, Nanoseconds time) {
  return {.worker = worker_id(worker),
          .name = {worker_id(worker), 0},
          .time = time,
          .start = start,
          .S = 0};
}
TraceLine foreign(std::size_t worker, std::size_t origin, Nanoseconds time, std::uint64_t S) {
  return {.worker = worker_id(worker), .name = {worker_id(origin), 0}, .time = time, .S = S};
}

TEST(TraceDigest, KeepsEverythingOfAShortRun) {
  TraceDigest digest;
  digest.add(own(0, 0, 100));
  digest.add(own(1, 0, 130));
  digest.add(foreign(1, 0, 150, 1));
  digest.add(foreign(0, 1, 180, 3));
  EXPECT_EQ(digest.applications(), 4u);
  EXPECT_EQ(digest.gradients(), 2u);
  EXPECT_EQ(digest.workers(), 2u);
  EXPECT_EQ(digest.end(), 180);
  EXPECT_EQ(digest.resolution(), 0);
  EXPECT_EQ(digest.heat(0, 1).most, 3u);
  EXPECT_EQ(digest.heat(1, 0).mean(), 1);
  EXPECT_EQ(digest.histogram().at(0), 2u);
  ASSERT_EQ(digest.time_lines().size(), 2u);
  EXPECT_EQ(digest.time_lines()[0].bars[0].busy, 100);
  EXPECT_EQ(digest.time_lines()[0].ticks[0].time, 180);
}

// However much is put together: nothing is lost, and minima and maxima survive.
RC_GTEST_PROP(TraceDigest, StaysBoundedAndLosesNothing, ()) {
  const DigestLimits limits{.buckets = 8, .groups = 4, .rows = 4, .bars = 12, .ticks = 12};
  TraceDigest digest(limits);
  const auto count = *rc::gen::inRange(1, 400);
  Extent all;
  std::uint64_t own_gradients = 0;
  Nanoseconds time = 0;
  std::map<std::pair<std::size_t, std::size_t>, Extent> by_pair;
  for (int k = 0; k < count; ++k) {
    const auto worker = *rc::gen::inRange<std::size_t>(0, 19);
    const auto origin = *rc::gen::inRange<std::size_t>(0, 19);
    time += *rc::gen::inRange(0, 100'000);
    const std::uint64_t S = worker == origin ? 0 : *rc::gen::inRange<std::uint64_t>(0, 500);
    digest.add(worker == origin ? own(worker, std::max<Nanoseconds>(0, time - 700), time)
                                : foreign(worker, origin, time, S));
    own_gradients += worker == origin ? 1 : 0;
    all.add(S);
    by_pair[{worker, origin}].add(S);
  }
  Extent kept;
  std::uint64_t computed = 0, applied = 0;
  RC_ASSERT(digest.moments().size() <= limits.buckets);
  for (const Moment& m : digest.moments()) {
    kept.merge(m.S);
    computed = std::accumulate(m.computed.begin(), m.computed.end(), computed);
    applied = std::accumulate(m.applied.begin(), m.applied.end(), applied);
  }
  RC_ASSERT(kept.count == all.count);
  RC_ASSERT(kept.least == all.least);
  RC_ASSERT(kept.most == all.most);
  RC_ASSERT(computed == own_gradients);
  RC_ASSERT(computed + applied == all.count);
  RC_ASSERT(digest.groups() <= limits.groups);
  std::map<std::pair<std::size_t, std::size_t>, Extent> by_group;
  for (const auto& [pair, extent] : by_pair)
    by_group[{pair.first / digest.workers_per_group(), pair.second / digest.workers_per_group()}]
        .merge(extent);
  for (const auto& [pair, extent] : by_group) {
    RC_ASSERT(digest.heat(pair.first, pair.second).most == extent.most);
    RC_ASSERT(digest.heat(pair.first, pair.second).count == extent.count);
  }
  RC_ASSERT(digest.time_lines().size() <= limits.rows);
  std::size_t bars = 0, ticks = 0;
  for (const TimeLine& line : digest.time_lines()) {
    bars += line.bars.size();
    ticks += line.ticks.size();
    for (const Bar& bar : line.bars) RC_ASSERT(bar.start <= bar.end);
  }
  RC_ASSERT(bars <= limits.bars);
  RC_ASSERT(ticks <= limits.ticks);
}

TEST(TraceDigest, MergedBarsRememberHowMuchOfThemWasComputing) {
  TraceDigest digest({.bars = 4, .ticks = 4});
  for (Nanoseconds k = 0; k < 64; ++k) digest.add(own(0, 1000 * k, 1000 * k + 250));
  Nanoseconds busy = 0;
  for (const Bar& bar : digest.time_lines()[0].bars) busy += bar.busy;
  EXPECT_EQ(busy, 64 * 250);
  EXPECT_GT(digest.resolution(), 0);
  EXPECT_LE(digest.time_lines()[0].bars.size(), 4u);
}

TEST(TraceDigest, ALiveOneForgetsWhatIsOld) {
  TraceDigest digest({.bars = 4, .ticks = 4, .latest = true});
  for (Nanoseconds k = 0; k < 64; ++k) digest.add(own(0, 1000 * k, 1000 * k + 250));
  ASSERT_EQ(digest.time_lines()[0].bars.size(), 4u);
  EXPECT_EQ(digest.time_lines()[0].bars.back().end, 63'250);
  EXPECT_EQ(digest.resolution(), 0);
  EXPECT_EQ(digest.whole_since(), 59'250);
  EXPECT_EQ(digest.gradients(), 64u);
}

}  // namespace
}  // namespace dasgd::report
