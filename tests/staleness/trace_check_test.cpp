#include "dasgd/staleness/trace_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

/// Two workers, two gradients each; the lines of a sound trace.
std::vector<TraceLine> sound() {
  const auto line = [](std::size_t worker, std::uint64_t step, std::size_t origin,
                       std::uint32_t seq, std::uint64_t s, Nanoseconds time, std::size_t number) {
    return TraceLine{
        worker_id(worker), step, {worker_id(origin), seq}, s, time, {}, {}, {}, number};
  };
  return {line(0, 0, 0, 0, 0, 10, 1), line(1, 0, 1, 0, 0, 11, 2), line(0, 1, 1, 0, 0, 12, 3),
          line(1, 1, 0, 0, 0, 13, 4), line(0, 2, 0, 1, 2, 20, 5), line(1, 2, 0, 1, 2, 21, 6)};
}

std::string first_violation(const std::vector<TraceLine>& trace) {
  const TraceCheck check = check_trace(trace);
  if (check.ok()) return "";
  return std::to_string(check.violations[0].line) + ": " + check.violations[0].what;
}

using ::testing::HasSubstr;

// Worker 2 hears of nothing until the others are done: its sets are as large as the run.
TEST(TraceCheck, AWorkerThatIsFarBehindIsCheckedByTheSameNumbers) {
  constexpr std::uint32_t each = 300;
  std::vector<TraceLine> trace;
  std::vector<std::uint64_t> step(3, 0);
  std::vector<std::vector<std::uint64_t>> origin_step(3);
  const auto apply = [&](std::size_t worker, std::size_t origin, std::uint32_t sequence) {
    if (worker == origin) origin_step[origin].push_back(step[worker]);
    TraceLine line;
    line.line = trace.size() + 1;
    line.worker = worker_id(worker);
    line.step = step[worker]++;
    line.name = {worker_id(origin), sequence};
    line.origin_step = origin_step[origin][sequence];
    trace.push_back(line);
  };
  for (std::uint32_t k = 0; k < each; ++k)
    for (const auto& [worker, origin] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}, {2, 2}})
      apply(worker, origin, k);
  for (std::uint32_t k = 0; k < each; ++k) {
    for (const std::size_t origin : {0, 1}) apply(2, origin, k);
    for (const std::size_t worker : {0, 1}) apply(worker, 2, k);
  }
  const TraceCheck check = check_trace(trace);
  ASSERT_TRUE(check.ok()) << check.violations.front().what;
  EXPECT_TRUE(check.causal());
  // Gradients of worker 2 do not know any of the 600 others, nor those one of worker 2.
  EXPECT_EQ(check.sum_S[2], 2u * each * each);
  EXPECT_EQ(check.sum_S[0], 2u * each * each);
  EXPECT_EQ(check.staleness.S_max, 2u * each);
  // At worker 2 each of its own is in the 300 of all 600 applications; at worker 0 each of the 600
  // is in the 600 of all 300.
  EXPECT_EQ(check.staleness.W, std::uint64_t{2} * each * each);
}

TEST(TraceCheck, AcceptsASoundTrace) {
  const TraceCheck check = check_trace(sound());
  EXPECT_TRUE(check.ok());
  EXPECT_TRUE(check.causal());
  EXPECT_TRUE(check.drained);
  EXPECT_EQ(check.workers, 2u);
  EXPECT_EQ(check.gradients, 3u);
  EXPECT_THAT(check.sum_S, ::testing::ElementsAre(1, 1));
  EXPECT_EQ(check.staleness.W, 1u);
}

TEST(TraceCheck, AcceptsAnyInterleavingOfWorkers) {
  auto trace = sound();
  std::stable_sort(trace.begin(), trace.end(),
                   [](const TraceLine& a, const TraceLine& b) { return a.worker > b.worker; });
  EXPECT_EQ(first_violation(trace), "");
}

TEST(TraceCheck, NamesACounterThatIsNotConsecutive) {
  auto trace = sound();
  trace[4].step = 3;
  EXPECT_THAT(first_violation(trace), HasSubstr("5: worker 0 is at step 2, not 3"));
}

TEST(TraceCheck, NamesAGradientThatIsAppliedTwice) {
  auto trace = sound();
  trace[5].name = {worker_id(0), 0};
  trace[5].origin_step = 0;
  EXPECT_THAT(first_violation(trace), HasSubstr("worker 1 applies gradient (0, 0) a second time"));
}

TEST(TraceCheck, NamesAGradientThatSomebodyNeverApplied) {
  auto trace = sound();
  trace.pop_back();
  EXPECT_THAT(first_violation(trace), HasSubstr("5: gradient (0, 1) is never applied by worker 1"));
}

TEST(TraceCheck, NamesAnApplicationBeforeTheComputation) {
  auto trace = sound();
  trace[5].time = 19;
  EXPECT_THAT(first_violation(trace),
              HasSubstr("6: worker 1 applies gradient (0, 1) before it was"));
}

TEST(TraceCheck, FindsACycleWithoutClocks) {
  // Each worker applies the other's gradient before computing the one that the other needed first.
  const auto line = [](std::size_t worker, std::uint64_t step, std::size_t origin,
                       std::uint32_t seq, std::uint64_t s, std::size_t number) {
    return TraceLine{worker_id(worker), step, {worker_id(origin), seq}, s, {}, {}, {}, {}, number};
  };
  const std::vector<TraceLine> trace{line(0, 0, 1, 0, 1, 1), line(0, 1, 0, 0, 1, 2),
                                     line(1, 0, 0, 0, 1, 3), line(1, 1, 1, 0, 1, 4)};
  EXPECT_THAT(first_violation(trace),
              HasSubstr("1: worker 0 applies gradient (1, 0) before it was"));
}

TEST(TraceCheck, NamesAnOwnGradientThatWasNotAppliedAtOnce) {
  auto trace = sound();
  trace[4].origin_step = trace[5].origin_step = 1;
  EXPECT_THAT(first_violation(trace),
              HasSubstr("5: worker 0 did not apply its own gradient (0, 1) at once"));
}

TEST(TraceCheck, NamesAnOriginStepThatChanges) {
  auto trace = sound();
  trace[3].origin_step = 1;
  EXPECT_THAT(first_violation(trace), HasSubstr("4: gradient (0, 0) has origin_step 1 here and 0"));
}

TEST(TraceCheck, NamesAGradientOutOfNowhere) {
  auto trace = sound();
  trace.erase(trace.begin() + 1);
  trace[1].step = 1;
  EXPECT_FALSE(check_trace(trace).ok());
}

TEST(TraceCheck, NamesAStalenessThatIsWrong) {
  auto trace = sound();
  trace[2].S = 1;
  trace[3].S = 2;
  EXPECT_THAT(first_violation(trace), HasSubstr("4: S is written as 2 and is 1"));
  trace[3].S = 1;
  trace[5].S_hat = 9;
  EXPECT_THAT(first_violation(trace), HasSubstr("6: S_hat is written as 9 and is 0"));
}

TEST(TraceCheck, DoesNotAllocateForAnAbsurdNumber) {
  auto trace = sound();
  trace[2].name.origin = worker_id(4'000'000'000u);
  EXPECT_THAT(first_violation(trace), HasSubstr("3: number 4000000000 is larger"));
}

TEST(TraceCheck, AGradientWithoutALineOfItsOriginCostsNoMemory) {
  std::vector<TraceLine> trace;  // every worker names the largest gradient that the length allows
  for (std::uint32_t w = 0; w < 20'000; ++w)
    trace.push_back({worker_id(w), 0, {worker_id(w), 19'999}, 0, {}, {}, {}, {}, w + 1});
  EXPECT_THAT(first_violation(trace),
              HasSubstr("1: gradient (0, 19999) was never computed by its origin"));
}

TEST(TraceCheck, ManyWorkersThatHearOfNobodyCostMemoryByTheirLines) {
  std::vector<TraceLine> trace;  // as a table: 100,000 workers times 100,000 gradients
  for (std::uint32_t w = 0; w < 100'000; ++w)
    trace.push_back({worker_id(w), 0, {worker_id(w), 0}, 0, {}, {}, {}, {}, w + 1});
  const TraceCheck check = check_trace(trace);
  EXPECT_EQ(check.gradients, 100'000u);
  EXPECT_FALSE(check.drained);
  EXPECT_EQ(check.staleness.S_max, 0u);
  EXPECT_THAT(check.violations.front().what, HasSubstr("is never applied by worker"));
}

TEST(TraceCheck, NamesAWorkerWhoseClockGoesBack) {
  auto trace = sound();
  for (std::size_t k = 0; k < trace.size(); ++k) trace[k].time = 100 + static_cast<Nanoseconds>(k);
  ASSERT_TRUE(check_trace(trace).ok());
  const auto last = trace.size() - 1;
  trace[last].time = 7;
  EXPECT_THAT(first_violation(trace), HasSubstr("already, not at 7"));
}

TEST(TraceCheck, TheBurstThatBreaksTheoremOne) {
  // Worker 0 takes 1.5 per gradient, the others 1; latency 0.1: three bursts, then a quiet tail.
  std::vector<TraceLine> trace;
  const auto apply = [&](std::size_t worker, std::uint64_t step, std::size_t origin,
                         std::uint32_t seq, std::uint64_t s) {
    trace.push_back(
        {worker_id(worker), step, {worker_id(origin), seq}, s, {}, {}, {}, {}, trace.size() + 1});
  };
  for (std::size_t w = 1; w < 4; ++w) apply(w, 0, w, 0, 0);
  for (std::size_t w = 1; w < 4; ++w)
    for (std::size_t o = 1, t = 1; o < 4; ++o)
      if (o != w) apply(w, t++, o, 0, 0);
  apply(0, 0, 0, 0, 0);
  for (std::size_t o = 1; o < 4; ++o) apply(0, o, o, 0, 0);
  for (std::size_t w = 1; w < 4; ++w) apply(w, 3, 0, 0, 0);
  for (std::uint32_t k = 1; k < 69; ++k)
    for (std::size_t w = 0; w < 4; ++w) apply(w, k + 3, 0, k, k + 3);
  const TraceCheck check = check_trace(trace);
  ASSERT_TRUE(check.ok());
  EXPECT_DOUBLE_EQ(check.staleness.S_hat_avg, 6.0 / 72);
  EXPECT_EQ(check.staleness.S_hat_max, 3u);
  EXPECT_DOUBLE_EQ(theory::published_eta_2(1, check.staleness.S_hat_avg, 3), 0.5);
  EXPECT_FALSE(theory::certified(0.5, 1, *check.staleness.W));
}

TEST(TraceCheck, ClocksMayBeApartByTheToleranceAndNoMore) {
  const std::vector<TraceLine> trace{
      {WorkerId{0}, 0, {WorkerId{0}, 0}, 0, 1000, {}, {}, {}, 1},
      {WorkerId{1}, 0, {WorkerId{0}, 0}, 0, 900, {}, {}, {}, 2}};  // before it was computed
  EXPECT_FALSE(check_trace(trace).ok());
  EXPECT_FALSE(check_trace(trace, 99).ok());
  EXPECT_TRUE(check_trace(trace, 100).ok());
}

}  // namespace
}  // namespace dasgd
