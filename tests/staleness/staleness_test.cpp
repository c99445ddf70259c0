#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/staleness/ledger.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/theory/step_size.hpp"
#include "support/random_execution.hpp"

namespace dasgd {
namespace {

using test::draw_execution;
using test::Execution;
using test::Names;

/// S, S_hat and W by the letter of the definitions.
struct Reference {
  std::vector<std::uint64_t> S, S_hat;
  StalenessSummary summary;
};

Reference by_definition(const Execution& run) {
  Reference result;
  std::vector<StalenessStatistics> S(run.workers), S_hat(run.workers);
  std::vector<std::map<GradientName, std::uint64_t>> weights(run.workers);
  for (const test::Event& e : run.events) {
    const Names stale = test::staleness_set(e.before, run.compute_sets.at(e.gradient->name));
    Names visited;
    const Names loose = test::loose_set(run, e.before, e.gradient->name, visited);
    result.S.push_back(stale.size());
    result.S_hat.push_back(loose.size());
    S[e.worker].add(stale.size());
    S_hat[e.worker].add(loose.size());
    for (const GradientName& g : stale) weights[e.worker][g] += stale.size();
  }
  for (std::size_t i = 0; i < run.workers; ++i) {
    std::uint64_t W = 0;
    for (const auto& [g, w] : weights[i]) W = std::max(W, w);
    result.summary.add_worker(S[i], S_hat[i], W);
  }
  return result;
}

void expect_equal(const StalenessSummary& a, const StalenessSummary& b, std::uint64_t seed) {
  EXPECT_DOUBLE_EQ(a.S_avg, b.S_avg) << seed;
  EXPECT_EQ(a.S_max, b.S_max) << seed;
  EXPECT_DOUBLE_EQ(a.S_hat_avg, b.S_hat_avg) << seed;
  EXPECT_EQ(a.S_hat_max, b.S_hat_max) << seed;
  EXPECT_DOUBLE_EQ(a.S_mean_square, b.S_mean_square) << seed;
  EXPECT_EQ(a.W, b.W) << seed;
}

class AnyOrder : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Staleness, AnyOrder, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Reordered" : "Fifo"; });

TEST_P(AnyOrder, TheLedgerAgreesWithTheDefinitions) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Execution run = draw_execution(seed, GetParam());
    const Reference reference = by_definition(run);
    std::vector<Ledger> ledgers(run.workers, Ledger(run.workers));
    for (std::size_t k = 0; k < run.events.size(); ++k) {
      const Staleness s = ledgers[run.events[k].worker].record(*run.events[k].gradient);
      ASSERT_EQ(s.S, reference.S[k]) << seed;
      if (s.S_hat) {
        ASSERT_EQ(*s.S_hat, reference.S_hat[k]) << seed;
      }
    }
    StalenessSummary summary;
    for (const Ledger& l : ledgers) summary.add_worker(l.S(), l.S_hat(), l.W());
    expect_equal(summary, reference.summary, seed);
  }
}

TEST_P(AnyOrder, TheCheckAgreesWithTheDefinitions) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Execution run = draw_execution(seed, GetParam());
    const Reference reference = by_definition(run);
    const TraceCheck check = check_trace(run.trace());
    ASSERT_TRUE(check.ok()) << seed << ": " << check.violations.front().what;
    ASSERT_EQ(check.events.size(), run.events.size());
    for (std::size_t k = 0; k < run.events.size(); ++k) {
      ASSERT_EQ(check.events[k].S, reference.S[k]) << seed;
      ASSERT_EQ(check.events[k].S_hat, reference.S_hat[k]) << seed;
    }
    expect_equal(check.staleness, reference.summary, seed);
  }
}

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

TEST(Staleness, IsSymmetric) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Execution run = draw_execution(seed, true);
    const Names& a = run.events.front().before;
    const Names& b = run.events.back().before;
    EXPECT_EQ(test::staleness_set(a, b), test::staleness_set(b, a));
    GradientSet x, y;
    for (const GradientName& g : a) x.insert(g);
    for (const GradientName& g : b) y.insert(g);
    EXPECT_EQ(x.count_missing_from(y) + y.count_missing_from(x), test::staleness_set(a, b).size());
  }
}

TEST(Staleness, StepCountersAloneDoNotDetermineIt) {
  // THEORY: worker 0 has t = 1 and receives a gradient with s = 1. If its origin had applied worker
  // 0's gradient, |S| = 0; if it had applied worker 1's, |S| = 2.
  const auto own = [](std::size_t worker) {
    Gradient g;
    g.name = {worker_id(worker), 0};
    g.compute_set = GradientSet(3);
    return g;
  };
  const auto from_worker_2 = [](GradientName knows) {
    Gradient g;
    g.name = {worker_id(2), 0};
    g.origin_step = 1;
    g.compute_set.insert(knows);
    return g;
  };
  Ledger same(3), other(3);
  same.record(own(0));
  other.record(own(0));
  EXPECT_EQ(same.record(from_worker_2({worker_id(0), 0})).S, 0u);
  EXPECT_EQ(other.record(from_worker_2({worker_id(1), 0})).S, 2u);
  EXPECT_EQ(other.noncausal_applications(), 1u);
}

// Broadcast in one global order is causal: everybody applies everything at once or catches up
// later.
TEST(Staleness, SumIsTheNumberOfConcurrentPairsAtEveryWorkerWhenCausal) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Execution run = draw_execution(seed, false);
    const TraceCheck check = check_trace(run.trace());
    if (!check.causal()) continue;
    std::uint64_t sum_of_s = 0;
    for (const auto& [name, compute_set] : run.compute_sets) sum_of_s += compute_set.size();
    const std::uint64_t N = run.compute_sets.size();
    for (const std::uint64_t sum : check.sum_S) EXPECT_EQ(sum, N * (N - 1) / 2 - sum_of_s) << seed;
  }
}

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

// Worker 0 hears of worker 1's k-th gradient before worker 2's k-th, which that one knew.
GradientFacts late(std::size_t workers, std::size_t origin, std::uint32_t k) {
  GradientFacts g{.name = {worker_id(origin), k}, .compute_set = GradientSet(workers)};
  g.compute_set.insert_range({worker_id(origin), 0, k});
  g.compute_set.insert_range({worker_id(2), 0, origin == 1 ? k + 1 : k});
  g.origin_step = g.compute_set.size();
  return g;
}

TEST(Ledger, TellsSHatOfManyWorkersOnlyWhereNothingIsMissing) {
  for (const std::size_t workers :
       {Ledger::most_workers_with_S_hat, Ledger::most_workers_with_S_hat + 1}) {
    Ledger ledger(workers);
    ledger.record(late(workers, 1, 0));  // misses a gradient
    ledger.record(late(workers, 2, 0));
    const bool told = workers <= Ledger::most_workers_with_S_hat;
    EXPECT_EQ(ledger.noncausal_applications(), 1u);
    EXPECT_EQ(ledger.S().applications, 2u);
    EXPECT_EQ(ledger.S_hat().applications, told ? 2u : 1u);
    StalenessSummary summary;
    summary.add_worker(ledger.S(), ledger.S_hat(), ledger.W());
    EXPECT_EQ(summary.S_hat_known, told);
  }
}

TEST(LooseStaleness, KeepsWhatWasAppliedSinceTheOldestThatWaitsHoweverLongTheRun) {
  LooseStaleness loose;
  GradientSet applied(3);
  std::size_t told = 0;
  const auto apply = [&](const GradientFacts& g) {
    const bool missing = g.compute_set.count_missing_from(applied) > 0;
    told += loose.apply(g.name, g.compute_set, applied, missing).size();
    applied.insert(g.name);
  };
  apply(late(3, 1, 0));
  for (std::uint32_t k = 1; k < 1000; ++k) {  // at every moment one waits
    apply(late(3, 1, k));
    apply(late(3, 2, k - 1));
    EXPECT_LE(loose.kept(), 8u);
  }
  EXPECT_EQ(told, 999u);
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

TEST(StepSize, TheLargestCertifiedEtaIsExactlyAtTheLimit) {
  for (std::uint64_t W : {0, 1, 5, 1000, 1'000'000}) {
    const double eta = theory::certified_eta(4, W);
    EXPECT_TRUE(theory::certified(eta * (1 - 1e-12), 4, W)) << W;
    EXPECT_FALSE(theory::certified(eta * (1 + 1e-9), 4, W)) << W;
  }
  EXPECT_DOUBLE_EQ(theory::certified_eta(4, 0), 0.25);
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
