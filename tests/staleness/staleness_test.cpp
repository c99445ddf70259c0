#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/staleness/clock_replay.hpp"
#include "dasgd/staleness/ledger.hpp"
#include "dasgd/staleness/set_replay.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/theory/step_size.hpp"
#include "support/random_execution.hpp"

namespace dasgd {
namespace {

using test::Delivery;
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

void add(const ReplayedWorker& worker, StalenessSummary& summary) {
  StalenessStatistics S, S_hat;
  for (const std::uint64_t size : worker.S) S.add(size);
  for (const std::uint64_t size : worker.S_hat) S_hat.add(size);
  summary.add_worker(S, S_hat, worker.W);
}

class AnyOrder : public ::testing::TestWithParam<Delivery> {};
INSTANTIATE_TEST_SUITE_P(Staleness, AnyOrder,
                         ::testing::Values(Delivery::oldest, Delivery::any_link,
                                           Delivery::any_gradient),
                         [](const auto& info) {
                           return info.param == Delivery::oldest     ? "Causal"
                                  : info.param == Delivery::any_link ? "FifoLinks"
                                                                     : "Reordered";
                         });

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

// The two ways of the referee, each by itself: `check_trace` takes the cheaper one.
TEST_P(AnyOrder, BothReplaysAgreeWithTheDefinitions) {
  std::uint64_t noncausal = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Execution run = draw_execution(seed, GetParam());
    const Reference reference = by_definition(run);
    const std::vector<TraceLine> trace = run.trace();
    std::vector<Violation> violations;
    const TraceIndex index(trace, 0, violations);
    SetReplay sets(index);
    const auto clocks = ClockReplay::of(index);
    if (GetParam() != Delivery::any_gradient) {
      ASSERT_TRUE(clocks) << seed;
    }
    StalenessSummary by_sets, by_clocks;
    for (std::size_t i = 0; i < run.workers; ++i) {
      const ReplayedWorker a = sets.worker(i);
      noncausal += a.noncausal;
      add(a, by_sets);
      std::size_t step = 0;
      for (std::size_t k = 0; k < run.events.size(); ++k) {
        if (run.events[k].worker != i) continue;
        ASSERT_EQ(a.S[step], reference.S[k]) << seed;
        ASSERT_EQ(a.S_hat[step++], reference.S_hat[k]) << seed;
      }
      if (!clocks) continue;
      const ReplayedWorker b = clocks->worker(i);
      add(b, by_clocks);
      ASSERT_EQ(a.S, b.S) << seed;
      ASSERT_EQ(a.S_hat, b.S_hat) << seed;
      ASSERT_EQ(a.noncausal, b.noncausal) << seed;
    }
    expect_equal(by_sets, reference.summary, seed);
    if (clocks) expect_equal(by_clocks, reference.summary, seed);
  }
  EXPECT_EQ(noncausal == 0, GetParam() == Delivery::oldest);
}

TEST(Staleness, IsSymmetric) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Execution run = draw_execution(seed, Delivery::any_gradient);
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

// docs/pictures/figure1.svg: model 2 applies gradient 3, which model 1 computed with G_1^2 = {1,
// 5}, when it has G_2^3 = {1, 2, 4}.
TEST(Staleness, TheWorkedSetsOfFigureOne) {
  const GradientName one{WorkerId{0}, 0}, two{WorkerId{1}, 0}, three{WorkerId{0}, 1},
      four{WorkerId{1}, 1}, five{WorkerId{2}, 0};
  const std::map<GradientName, std::uint64_t> step_of{
      {one, 0}, {two, 0}, {three, 2}, {four, 2}, {five, 0}};
  std::vector<std::uint64_t> t(3, 0);
  std::vector<TraceLine> trace;
  const auto apply = [&](std::size_t worker, const GradientName& name) {
    trace.push_back({.worker = worker_id(worker),
                     .step = t[worker]++,
                     .name = name,
                     .origin_step = step_of.at(name)});
  };
  for (const auto& [worker, name] : std::vector<std::pair<std::size_t, GradientName>>{{0, one},
                                                                                      {1, two},
                                                                                      {2, five},
                                                                                      {0, five},
                                                                                      {0, three},
                                                                                      {1, one},
                                                                                      {1, four},
                                                                                      {1, three},
                                                                                      {1, five},
                                                                                      {0, two},
                                                                                      {0, four},
                                                                                      {2, one},
                                                                                      {2, two},
                                                                                      {2, three},
                                                                                      {2, four}})
    apply(worker, name);
  const TraceCheck check = check_trace(trace);
  EXPECT_TRUE(check.violations.empty());
  const auto at = std::find_if(check.events.begin(), check.events.end(), [](const auto& e) {
    return e.worker == WorkerId{1} && e.step == 3;
  });
  ASSERT_NE(at, check.events.end());
  EXPECT_EQ(at->S, 3u) << "{2, 4} that model 1 had not, and {5} that model 2 has not";
  EXPECT_EQ(at->S, 3 - 2 + 2 * 1) << "t - s + 2 missing";
  EXPECT_EQ(at->S_hat, 4u) << "5 was computed without 1, which is the fourth";
}

// Broadcast in one global order is causal: everybody applies everything at once or catches up
// later.
TEST(Staleness, SumIsTheNumberOfConcurrentPairsAtEveryWorkerWhenCausal) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Execution run = draw_execution(seed, Delivery::oldest);
    const TraceCheck check = check_trace(run.trace());
    if (!check.causal()) continue;
    std::uint64_t sum_of_s = 0;
    for (const auto& [name, compute_set] : run.compute_sets) sum_of_s += compute_set.size();
    const std::uint64_t N = run.compute_sets.size();
    for (const std::uint64_t sum : check.sum_S) EXPECT_EQ(sum, N * (N - 1) / 2 - sum_of_s) << seed;
  }
}

// Worker 0 hears of worker 1's k-th gradient before worker 2's k-th, which that one knew.
GradientFacts late(std::size_t workers, std::size_t origin, std::uint32_t k) {
  GradientFacts g{.name = {worker_id(origin), k}, .compute_set = GradientSet(workers)};
  g.compute_set.insert_range({worker_id(origin), 0, k});
  g.compute_set.insert_range({worker_id(2), 0, origin == 1 ? k + 1 : k});
  g.origin_step = g.compute_set.size();
  return g;
}

TEST(Ledger, KnowsSHatOfManyWorkersOnlyWhereNothingIsMissing) {
  for (const std::size_t workers :
       {Ledger::most_workers_with_S_hat, Ledger::most_workers_with_S_hat + 1}) {
    Ledger ledger(workers);
    ledger.record(late(workers, 1, 0));  // misses a gradient
    ledger.record(late(workers, 2, 0));
    const bool known = workers <= Ledger::most_workers_with_S_hat;
    EXPECT_EQ(ledger.noncausal_applications(), 1u);
    EXPECT_EQ(ledger.S().applications, 2u);
    EXPECT_EQ(ledger.S_hat().applications, known ? 2u : 1u);
    StalenessSummary summary;
    summary.add_worker(ledger.S(), ledger.S_hat(), ledger.W());
    EXPECT_EQ(summary.S_hat_known, known);
  }
}

TEST(LooseStaleness, KeepsWhatWasAppliedSinceTheOldestThatWaitsHoweverLongTheRun) {
  LooseStaleness loose;
  GradientSet applied(3);
  std::size_t known = 0;
  const auto apply = [&](const GradientFacts& g) {
    const bool missing = g.compute_set.count_missing_from(applied) > 0;
    known += loose.apply(g.name, g.compute_set, applied, missing).size();
    applied.insert(g.name);
  };
  apply(late(3, 1, 0));
  for (std::uint32_t k = 1; k < 1000; ++k) {  // at every moment one waits
    apply(late(3, 1, k));
    apply(late(3, 2, k - 1));
    EXPECT_LE(loose.kept(), 8u);
  }
  EXPECT_EQ(known, 999u);
}

TEST(StepSize, TheLargestCertifiedEtaIsExactlyAtTheLimit) {
  for (std::uint64_t W : {0, 1, 5, 1000, 1'000'000}) {
    const double eta = theory::certified_eta(4, W);
    EXPECT_TRUE(theory::certified(eta * (1 - 1e-12), 4, W)) << W;
    EXPECT_FALSE(theory::certified(eta * (1 + 1e-9), 4, W)) << W;
  }
  EXPECT_DOUBLE_EQ(theory::certified_eta(4, 0), 0.25);
}

}  // namespace
}  // namespace dasgd
