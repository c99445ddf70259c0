#include "dasgd/run/divergence_guard.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace dasgd {
namespace {

/// A worker whose losses are set by the test.
class Guarded {
 public:
  Guarded(GoodModel<double>& good, OnDivergence policy, double eta = 0.5)
      : options_{.workers = 2, .eta = eta, .on_divergence = policy},
        rule_(eta),
        guard_(WorkerId{0}, rule_, options_, good) {}

  void see(int times, double loss, std::uint64_t S_max = 3) {
    for (int i = 0; i < times; ++i) guard_.observe(++t_, loss, loss, S_max, replica_);
  }
  double eta() {
    std::vector<double> gradient{1};
    return guard_.prepare(t_, replica_, gradient);
  }
  DivergenceGuard<double>& guard() { return guard_; }

 private:
  const TrainOptions options_;
  FixedStep<double> rule_;
  DivergenceGuard<double> guard_;
  HostReplica<double> replica_{std::vector<double>{1}};
  std::uint64_t t_ = 0;
};

TEST(DivergenceGuard, StopsWhenTheLossIsTooHighForLongerThanStalenessExplains) {
  GoodModel<double> good;
  Guarded worker(good, OnDivergence::stop);
  worker.see(30, 1);
  worker.see(100, 9);
  worker.see(40, 11);
  EXPECT_THROW(worker.see(1, 11), LossDivergence);
}

TEST(DivergenceGuard, LetsALossSwing) {
  GoodModel<double> good;
  Guarded worker(good, OnDivergence::stop);
  worker.see(30, 1);
  for (int swing = 0; swing < 10; ++swing) {
    worker.see(40, 1e6);
    worker.see(1, 1);
  }
  worker.see(400, 1e6, 39);
  EXPECT_THROW(worker.see(1, 1e6, 39), LossDivergence);
}

TEST(DivergenceGuard, AWorkerThatStartsLateKnowsWhereOthersStarted) {
  GoodModel<double> good;
  Guarded first(good, OnDivergence::stop), late(good, OnDivergence::stop);
  first.see(30, 1);
  late.see(30, 1e-9);
  late.see(1000, 1e-3);
}

TEST(DivergenceGuard, HalvesAndHalvesAgainWhileTheLossDoubles) {
  GoodModel<double> good;
  Guarded worker(good, OnDivergence::halve);
  worker.see(30, 1);
  EXPECT_EQ(worker.eta(), 0.5);
  worker.see(41, 20);
  EXPECT_EQ(worker.eta(), 0.25);
  worker.see(1000, 40);
  EXPECT_EQ(worker.eta(), 0.25);
  worker.see(41, 41);
  EXPECT_EQ(worker.eta(), 0.125);
  EXPECT_EQ(worker.guard().halvings(), 2u);
}

TEST(DivergenceGuard, AResumedRunKeepsItsHalvingsUnlessItsStepSizeIsAnother) {
  GoodModel<double> good;
  Guarded worker(good, OnDivergence::halve);
  worker.see(30, 1);
  worker.see(41, 20);
  const Bytes state = worker.guard().state();
  GoodModel<double> later;
  Guarded resumed(later, OnDivergence::halve), another(later, OnDivergence::halve, 0.125);
  EXPECT_TRUE(resumed.guard().restore(state));
  EXPECT_EQ(resumed.eta(), 0.25);
  EXPECT_EQ(resumed.guard().halvings(), 1u);
  EXPECT_EQ(later.early_loss(), 1);
  resumed.see(1000, 40);
  EXPECT_EQ(resumed.eta(), 0.25);
  resumed.see(41, 41);
  EXPECT_EQ(resumed.eta(), 0.125);
  EXPECT_TRUE(another.guard().restore(state));
  EXPECT_EQ(another.eta(), 0.125);
  EXPECT_FALSE(another.guard().restore(Bytes(7)));
}

}  // namespace
}  // namespace dasgd
