#include "dasgd/runtime/peer.hpp"

#include <atomic>
#include <cmath>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/runtime/train.hpp"

namespace dasgd {
namespace {

// The loop of somebody else: full gradients at x.
std::uint32_t steps(Peer<double>& peer, const Quadratic& f, std::uint32_t count) {
  std::vector<double> gradient(f.dimension());
  for (std::uint32_t k = 0; k < count; ++k) {
    const double loss = f.full_gradient(peer.x(), gradient);
    if (!peer.step(gradient, loss)) return k;
  }
  return count;
}

TEST(Peer, IsPlainSgdWhenItIsAlone) {
  const Quadratic f = Quadratic::random(1);
  const TrainOptions options{.workers = 1, .eta = 0.005};
  Peer<double> peer(f.start(), options);
  EXPECT_EQ(steps(peer, f, 200), 200u);
  const auto by_hand = peer.finish();
  TrainOptions same = options;
  same.gradients = {200};
  const auto by_engine = train(f, same);
  ASSERT_TRUE(by_hand);
  EXPECT_EQ(by_hand->model, by_engine.model);
  EXPECT_EQ(std::vector<double>(peer.x().begin(), peer.x().end()), by_hand->model) << "it stays";
  EXPECT_EQ(by_hand->summary.replica_digest, by_engine.summary.replica_digest);
  EXPECT_EQ(by_hand->summary.gradients, 200u);
}

TEST(Peer, ShowsItsModelAtOnePlaceAndAsItIsUntilTheNextStep) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
  const double* const place = peer.x().data();
  const std::vector<double> before(peer.x().begin(), peer.x().end());
  EXPECT_EQ(before, f.start());
  steps(peer, f, 3);
  EXPECT_EQ(peer.x().data(), place);
  EXPECT_NE(std::vector<double>(peer.x().begin(), peer.x().end()), before);
}

TEST(Peer, SeesWhetherSomebodyHasWrittenIntoItsModel) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
  steps(peer, f, 3);
  EXPECT_TRUE(peer.x_is_the_replicas());
  double& last = const_cast<double&>(peer.x().back());
  const double own = std::exchange(last, last + 1);
  EXPECT_FALSE(peer.x_is_the_replicas());
  last = own;
  EXPECT_TRUE(peer.x_is_the_replicas()) << "it is back";
  peer.finish();
  last = 0;
  EXPECT_TRUE(peer.x_is_the_replicas()) << "no step can overwrite it any more";
}

TEST(Peer, CountsTheReportedSamples) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005}, 32);
  steps(peer, f, 5);
  EXPECT_EQ(peer.finish()->summary.samples, 160u);
}

TEST(Peer, CountsTheSamplesOfEveryStepWhereTheyAreReported) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005}, 7);
  std::vector<double> gradient(f.dimension());
  EXPECT_TRUE(peer.step(gradient, 0, 3));
  EXPECT_TRUE(peer.step(gradient));
  EXPECT_EQ(peer.gradients(), 2u);
  EXPECT_EQ(peer.samples(), 10u);
  EXPECT_THROW(peer.step(gradient, 0, 0), InputError);
  EXPECT_EQ(peer.finish()->summary.samples, 10u);
  EXPECT_EQ(peer.gradients(), 2u) << "they stay";
}

TEST(Peer, EndsAsByABudgetWhenItIsAsked) {
  const Quadratic f = Quadratic::random(1);
  std::stop_source asked;
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005, .asked = asked.get_token()});
  EXPECT_EQ(steps(peer, f, 3), 3u);
  asked.request_stop();
  EXPECT_EQ(steps(peer, f, 3), 0u);
  const auto result = peer.finish();
  EXPECT_EQ(result->summary.gradients, 4u) << "that step was under way";
  EXPECT_EQ(result->summary.stop_reason, StopReason::asked);
}

TEST(Peer, IsStoppedByTheTokenOfItsOptions) {
  const Quadratic f = Quadratic::random(1);
  std::stop_source stop;
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005, .stop = stop.get_token()});
  EXPECT_EQ(steps(peer, f, 3), 3u);
  stop.request_stop();
  EXPECT_EQ(steps(peer, f, 3), 0u);
  EXPECT_EQ(peer.finish()->summary.stop_reason, StopReason::interrupted);
}

TEST(Peer, TheGradientThatWasGivenCountsHoweverSoonTheEndComes) {
  const Quadratic f = Quadratic::random(1);
  std::vector<double> gradient(f.dimension());
  for (std::uint64_t k = 1; k <= 50; ++k) {  // whether the worker has seen it by then is chance
    Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
    peer.give(gradient, 0);
    EXPECT_EQ(peer.finish()->summary.gradients, 1u);
  }
}

TEST(Peer, ShowsTheModelThatWorkersShareWhateverStandsInItsOwn) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
  steps(peer, f, 3);
  const std::vector<double> own(peer.x().begin(), peer.x().end());
  const_cast<double&>(peer.x().front()) += 1;
  std::vector<double> shared(f.dimension());
  peer.copy_shared(shared);
  EXPECT_EQ(shared, own);
}

TEST(Peer, ARunThatOthersHaveEndedAlreadyIsOverAtTheFirstStep) {
  const Quadratic f = Quadratic::random(1);
  const auto over = [](const Objective<double>&, const TrainOptions&) {
    return std::optional<TrainResult<double>>();
  };
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005}, 1, over);
  EXPECT_EQ(std::vector<double>(peer.x().begin(), peer.x().end()), f.start());
  EXPECT_EQ(steps(peer, f, 1), 0u);
  EXPECT_FALSE(peer.finish());

  std::stop_source impatient;
  impatient.request_stop();
  const TrainOptions stopped{.workers = 1, .eta = 0.005, .stop = impatient.get_token()};
  EXPECT_THROW(Peer<double>(f.start(), stopped, 1, over), InputError);
}

TEST(Peer, EndsWithItsBudget) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005, .gradients = {10}});
  EXPECT_EQ(steps(peer, f, 100), 9u) << "the tenth is applied, and there is no turn after it";
  EXPECT_EQ(peer.finish()->summary.gradients, 10u);
}

TEST(Peer, ThatIsLeftEndsCleanly) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
  steps(peer, f, 3);
}

TEST(Peer, SeveralThreadsMayCloseItBesideItsEnd) {
  const Quadratic f = Quadratic::random(1);
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const auto ends_when_all_wait = [begun](const Objective<double>& f, const TrainOptions& options) {
    auto result = Peer<double>::alone()(f, options);
    while (*begun < 3) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    return result;
  };
  const auto peer = std::make_shared<Peer<double>>(
      f.start(), TrainOptions{.workers = 1, .eta = 0.005}, 1, ends_when_all_wait);
  std::vector<std::future<void>> ended;
  for (int k = 0; k < 3; ++k) {
    std::packaged_task<void()> end([peer, begun, k] {
      ++*begun;
      k == 0 ? static_cast<void>(peer->finish()) : peer->close();
    });
    ended.push_back(end.get_future());
    std::thread(std::move(end)).detach();  // a test that fails does not wait for it
  }
  for (std::future<void>& end : ended) {
    ASSERT_EQ(end.wait_for(std::chrono::minutes(1)), std::future_status::ready);
    EXPECT_NO_THROW(end.get());
  }
}

TEST(Peer, ReportsADivergenceAtItsEnd) {
  const Quadratic f = Quadratic::random(1);
  Peer<double> peer(f.start(), {.workers = 1, .eta = 0.005});
  EXPECT_FALSE(peer.step(std::vector<double>(f.dimension(), std::nan(""))));
  EXPECT_FALSE(peer.step(std::vector<double>(f.dimension(), 1))) << "it is over";
  EXPECT_THROW(peer.finish(), DivergenceError);
}

TEST(Peer, RefusesWhatCannotBe) {
  EXPECT_THROW(Peer<double>({}, {.workers = 1}), InputError);
  EXPECT_THROW(Peer<double>({1, 2}, {.workers = 1}, 0), InputError);
  EXPECT_THROW(Peer<double>({1, 2}, {.workers = 1, .eta = -1}), InputError);
  EXPECT_THROW(Peer<double>({1, 2}, {.workers = 2}), InputError) << "both would be fed by one loop";
  Peer<double> peer({1, 2}, {.workers = 1});
  EXPECT_THROW(peer.step(std::vector<double>{1}), InputError);
}

}  // namespace
}  // namespace dasgd
