#include "dasgd/core/worker.hpp"

#include <cmath>
#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "dasgd/core/objective.hpp"

namespace dasgd {
namespace {

/// f(x) = sum of (x - 1)^2 / 2, or a gradient set by the test.
class Parabola final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 2; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    for (std::size_t i = 0; i < 2; ++i) g[i] = replaced ? *replaced : x[i] - 1;
    if (meanwhile) meanwhile();
    return 7;
  }
  std::function<void()> meanwhile;
  std::optional<double> replaced;
};

/// A channel that the test fills and empties by hand.
class HandChannel final : public Channel {
 public:
  void receive(std::size_t limit, Received& received) override {
    if (bundle) {
      received.bundle = std::move(bundle);
      return;
    }
    for (; limit > 0 && !waiting.empty(); --limit) {
      received.gradients.push_back(waiting.front());
      waiting.pop_front();
    }
  }
  std::shared_ptr<Gradient> blank() override {
    ++blanks;
    return std::make_shared<Gradient>();
  }
  void send(GradientPtr gradient) override { sent.push_back(gradient); }
  void applied(const Received& received) override { applications += received.gradients.size(); }
  Nanoseconds now() const override { return ++time; }

  std::deque<GradientPtr> waiting;
  BundlePtr bundle;
  std::vector<GradientPtr> sent;
  std::size_t applications = 0, blanks = 0;
  mutable Nanoseconds time = 0;
};

class Samples final : public SampleSource {
 public:
  Draw next() override {
    if (dry) return Draw::none_now();
    if (left == 0) return Draw::no_more();
    --left;
    return Draw::batch(row);
  }
  int left = 100;
  bool dry = false;
  std::array<std::uint32_t, 1> row{0};
};

class WorkerTest : public ::testing::Test {
 protected:
  GradientPtr foreign(std::uint32_t sequence) {
    auto g = std::make_shared<Gradient>();
    g->name = {WorkerId{1}, sequence};
    g->origin_step = sequence;
    HostReplica<double>(std::vector<double>{0, 0})
        .apply_own(0.5, std::vector<double>{1, 1}, g->update);
    return g;
  }

  Parabola objective;
  FixedStep<double> rule{0.5};
  Samples samples;
  HandChannel channel;
  Worker<double> worker{WorkerId{0}, objective.start(), objective.make_oracle(WorkerId{0}),
                        rule,        samples,           channel};
};

using Kind = StepReport::Kind;

TEST_F(WorkerTest, DoesNotUseANameThatSomebodyElseUsedForItsOwn) {
  auto made_up = std::make_shared<Gradient>(*foreign(0));
  made_up->name = {WorkerId{0}, 0};
  channel.waiting = {made_up};
  EXPECT_EQ(worker.step().kind, Kind::applied);
  EXPECT_EQ(worker.step().kind, Kind::computed);
  EXPECT_EQ(channel.sent.back()->name, (GradientName{WorkerId{0}, 1}));
  EXPECT_EQ(worker.duplicated(), 0u);
}

TEST_F(WorkerTest, AppliesAWaitingGradientBeforeComputingItsOwn) {
  channel.waiting = {foreign(0)};
  EXPECT_EQ(worker.step().kind, Kind::applied);
  EXPECT_TRUE(channel.sent.empty());
  EXPECT_DOUBLE_EQ(worker.replica().x()[0], -0.5);
  EXPECT_EQ(worker.step().kind, Kind::computed);
}

TEST_F(WorkerTest, AppliesItsOwnGradientAtOnceAndSendsIt) {
  const StepReport report = worker.step();
  EXPECT_EQ(report.kind, Kind::computed);
  EXPECT_EQ(report.step, 0u);
  EXPECT_EQ(report.loss, 7);
  EXPECT_LT(report.start, report.time);
  ASSERT_EQ(channel.sent.size(), 1u);
  EXPECT_EQ(channel.sent[0]->name, (GradientName{WorkerId{0}, 0}));
  EXPECT_EQ(channel.sent[0]->origin_step, 0u);
  EXPECT_EQ(channel.sent[0]->eta, 0.5);
  EXPECT_EQ(worker.t(), 1u);
  EXPECT_DOUBLE_EQ(worker.replica().x()[1], 0.5);
}

// What others have applied by then can be used again.
TEST_F(WorkerTest, TakesABufferWhenItHasComputed) {
  std::vector<std::size_t> taken;
  objective.meanwhile = [&] { taken.push_back(channel.blanks); };
  worker.step();
  worker.step();
  EXPECT_THAT(taken, ::testing::ElementsAre(0, 1));
  EXPECT_EQ(channel.blanks, 2u);
}

TEST_F(WorkerTest, SaysWithEachGradientWhatItHadApplied) {
  channel.waiting = {foreign(0), foreign(1)};
  worker.step();
  worker.step();
  worker.step();
  const Gradient& second = *channel.sent.at(1);
  EXPECT_EQ(second.origin_step, 3u);
  EXPECT_EQ(second.compute_set.size(), 3u);
  EXPECT_TRUE(second.compute_set.contains({WorkerId{1}, 1}));
  EXPECT_TRUE(second.compute_set.contains({WorkerId{0}, 0}));
}

TEST_F(WorkerTest, FusesWhatWaitsIntoOnePass) {
  for (std::uint32_t k = 0; k < 11; ++k) channel.waiting.push_back(foreign(k));
  EXPECT_EQ(worker.step().gradients.size(), 8u);
  const StepReport rest = worker.step();
  EXPECT_EQ(rest.step, 8u);
  EXPECT_EQ(rest.gradients.size(), 3u);
  EXPECT_EQ(worker.t(), 11u);
  EXPECT_EQ(channel.applications, 11u);
}

TEST_F(WorkerTest, ShowsEveryModelWhenAskedNotToFuse) {
  Worker<double> slow(WorkerId{0}, objective.start(), objective.make_oracle(WorkerId{0}), rule,
                      samples, channel, 1);
  channel.waiting = {foreign(0), foreign(1)};
  EXPECT_EQ(slow.step().gradients.size(), 1u);
}

TEST_F(WorkerTest, GoesOnApplyingWhenThereIsNoFurtherSample) {
  samples.left = 0;
  EXPECT_EQ(worker.step().kind, Kind::out_of_samples);
  channel.waiting = {foreign(0)};
  EXPECT_EQ(worker.step().kind, Kind::applied);
}

TEST_F(WorkerTest, GoesOnApplyingWhileThereIsNoSampleNow) {
  samples.dry = true;
  EXPECT_EQ(worker.step().kind, Kind::no_sample_now);
  channel.waiting = {foreign(0)};
  EXPECT_EQ(worker.step().kind, Kind::applied);
  samples.dry = false;
  EXPECT_EQ(worker.step().kind, Kind::computed);
}

TEST_F(WorkerTest, AppliesABundleAsTheGradientsThatAreInIt) {
  std::vector<GradientPtr> gradients;
  for (std::uint32_t k = 0; k < 11; ++k) gradients.push_back(foreign(k));
  auto bundle = std::make_shared<Bundle>();
  bundle->add(gradients);
  channel.bundle = bundle;
  const StepReport report = worker.step();
  EXPECT_EQ(report.kind, Kind::applied);
  EXPECT_TRUE(report.folded);
  ASSERT_EQ(report.gradients.size(), 11u);
  EXPECT_EQ(report.gradients[10]->name, (GradientName{WorkerId{1}, 10}));
  EXPECT_EQ(worker.t(), 11u);
  EXPECT_DOUBLE_EQ(worker.replica().x()[0], -5.5);
}

TEST_F(WorkerTest, HoldsNothingOnceItHasLetGo) {
  const GradientPtr gradient = foreign(0);
  channel.waiting = {gradient};
  worker.step();
  EXPECT_EQ(gradient.use_count(), 2);
  worker.release_applied();
  EXPECT_EQ(gradient.use_count(), 1);
}

TEST_F(WorkerTest, CountsAGradientThatIsAppliedTwice) {
  channel.waiting = {foreign(0), foreign(0)};
  worker.step();
  EXPECT_EQ(worker.duplicated(), 1u);
}

TEST_F(WorkerTest, NamesWorkerGradientAndCoordinateOfADivergence) {
  worker.step();
  objective.replaced = std::numeric_limits<double>::quiet_NaN();
  try {
    worker.step();
    FAIL() << "a NaN was applied";
  } catch (const DivergenceError& error) {
    EXPECT_EQ(error.worker, WorkerId{0});
    EXPECT_EQ(error.gradient, (GradientName{WorkerId{0}, 1}));
    EXPECT_EQ(error.coordinate, 0u);
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("worker 0, gradient (0, 1), coordinate 0 is nan"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("step size of 0.05"));
  }
  EXPECT_EQ(worker.t(), 1u);
  EXPECT_EQ(channel.sent.size(), 1u) << "a diverged gradient must not leave";
  EXPECT_DOUBLE_EQ(worker.replica().x()[0], 0.5) << "nor be applied";
}

TEST_F(WorkerTest, DoesNotComputeOnAModelOutOfRange) {
  objective.replaced = -1e12;
  samples.left = 1000;
  EXPECT_THROW(
      {
        for (int i = 0; i < 200; ++i) worker.step();
      },
      DivergenceError);
}

/// Numbers on a device that the test plays.
class FarNumbers final : public DeviceUpdate {
 public:
  explicit FarNumbers(const Update& update) : update_(update) {}
  std::size_t size_in_bytes() const override { return update_.bytes().size(); }
  bool ready() const override { return computed; }
  int fetch(std::span<std::byte> to) const override {
    ++fetched;
    std::ranges::copy(update_.bytes(), to.begin());
    return update_.shift;
  }
  bool computed = false;
  mutable int fetched = 0;

 private:
  const Update update_;
};

/// Does whole steps: every gradient is 1 everywhere, and diverges when the test says so.
class FarOracle final : public Oracle<double> {
 public:
  double gradient(ComputePoint<double>&, const Batch&, std::span<double>) override {
    ADD_FAILURE() << "asked for a gradient";
    return 0;
  }
  bool makes_whole_steps() const override { return true; }
  std::optional<WholeStep> whole_step(ComputePoint<double>& point, const Batch&,
                                      UpdateRule<double>& rule, std::uint64_t t,
                                      Update& update) override {
    const double eta = rule.step_size(t);
    if (diverged_steps_ago)
      return WholeStep{.divergence =
                           WholeStep::Divergence{*diverged_steps_ago, 1, std::nan(""), eta}};
    Update here;
    point.replica().apply_own(eta, std::vector<double>{1, 1}, here);
    far.push_back(std::make_shared<FarNumbers>(here));
    update.put(far.back(), NumberFormat::of_double);
    return WholeStep{.eta = eta, .loss = 3};
  }
  std::vector<std::shared_ptr<FarNumbers>> far;
  std::optional<std::uint32_t> diverged_steps_ago;
};

TEST_F(WorkerTest, AnAdoptedModelWithoutOwnGradientsLeavesNoDelayBehind) {
  Worker<double> ahead{
      WorkerId{0}, objective.start(), objective.make_oracle(WorkerId{0}), rule, samples,
      channel,     max_fused,         {LookAhead::Kind::fixed, 1}};
  for (int k = 0; k < 50; ++k) ahead.step();
  GradientSet theirs;
  theirs.insert_range({WorkerId{1}, 0, 5});
  const std::vector<Sum<double>> sums(2, 0);
  ahead.adopt(theirs, sums, 5);
  for (std::uint32_t k = 5; k < 30; ++k) {  // they know all that is left of this worker
    auto g = std::make_shared<Gradient>(*foreign(k));
    g->compute_set = ahead.applied();
    channel.waiting.push_back(g);
    ahead.step();
    ahead.step();
  }
  EXPECT_LT(ahead.point().plan().oldest(), 1);  // not half of the 50 that were abandoned
}

class WholeStepTest : public WorkerTest {
 protected:
  FarOracle* const oracle = new FarOracle;
  Worker<double> far_worker{WorkerId{0}, objective.start(), std::unique_ptr<FarOracle>(oracle),
                            rule,        samples,           channel};
};

TEST_F(WholeStepTest, AGradientIsSentWhenTheDeviceHasComputedIt) {
  const StepReport first = far_worker.step();
  EXPECT_EQ(first.kind, Kind::computed);
  EXPECT_EQ(first.loss, 3);
  EXPECT_EQ(far_worker.t(), 1u);
  EXPECT_TRUE(channel.sent.empty());
  far_worker.step();
  oracle->far[1]->computed = true;  // but not the one before it
  far_worker.step();
  EXPECT_TRUE(channel.sent.empty());
  oracle->far[0]->computed = true;
  far_worker.step();
  ASSERT_EQ(channel.sent.size(), 2u);
  for (std::uint32_t k = 0; k < 2; ++k) EXPECT_EQ(channel.sent[k]->name.sequence, k);
}

TEST_F(WholeStepTest, NothingIsKeptBackWhenThereAreNoSamples) {
  samples.left = 2;
  far_worker.step();
  far_worker.step();
  EXPECT_EQ(far_worker.step().kind, Kind::out_of_samples);
  EXPECT_EQ(channel.sent.size(), 2u);
}

TEST_F(WholeStepTest, NumbersComeHereOnceAndWithTheirShift) {
  far_worker.step();
  samples.left = 0;
  far_worker.step();
  const GradientPtr sent = channel.sent.at(0);
  EXPECT_EQ(sent->update.size_in_bytes(), 2 * sizeof(Number<double>));
  EXPECT_EQ(oracle->far[0]->fetched, 0);
  HostReplica<double> other(objective.start());
  other.apply(std::vector<GradientPtr>{sent});
  EXPECT_EQ(other.x()[1], far_worker.replica().x()[1]);
  Bundle bundle;
  bundle.add(std::vector<GradientPtr>{sent});
  HostReplica<double> third(objective.start());
  third.apply(bundle);
  EXPECT_EQ(third.x()[1], other.x()[1]);
  EXPECT_EQ(oracle->far[0]->fetched, 1);
}

TEST_F(WholeStepTest, ADivergenceNamesTheGradientThatWasMeant) {
  far_worker.step();
  far_worker.step();
  oracle->diverged_steps_ago = 2;
  try {
    far_worker.step();
    FAIL();
  } catch (const DivergenceError& error) {
    EXPECT_EQ(error.gradient.sequence, 0u);
    EXPECT_EQ(error.coordinate, 1u);
  }
  EXPECT_EQ(far_worker.t(), 2u);
}

}  // namespace
}  // namespace dasgd
