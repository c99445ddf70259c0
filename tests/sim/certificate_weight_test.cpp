#include <gtest/gtest.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/staleness/causal_weights.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

// W of the run is that of the referee, which knows only the trace.
void expect_the_referees_weight(TrainOptions options, const VirtualWorld& world) {
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  options.trace = &writer;
  const auto result = simulate(Quadratic::random(1), options, world);
  writer.finish();
  ASSERT_TRUE(result.summary.staleness.W);
  EXPECT_EQ(*result.summary.staleness.W,
            check_trace(read_trace(directory.file("t")).applications).staleness.W);
}

TEST(CertificateWeight, OfManyWorkersIsThatOfTheReferee) {
  for (const std::size_t workers : {65u, 130u}) {
    TrainOptions options{.workers = workers, .eta = 1e-5, .gradients = {6}};
    const VirtualWorld equal, unequal{.compute = TimeModel::lognormal(50'000'000, 0.7)};
    expect_the_referees_weight(options, equal);
    expect_the_referees_weight(options, unequal);
    options.slow = {{WorkerId{3}, 4}};
    options.topology = "ring";
    expect_the_referees_weight(options, equal);
  }
}

TEST(CertificateWeight, BehindAWorkerThatWasAwayIsThatOfTheReferee) {
  TrainOptions options{.workers = 3, .eta = 1e-5, .gradients = {900, 900, 3}};
  options.slow = {{WorkerId{2}, 250}};
  for (const TimeModel& compute :
       {TimeModel::constant(1'000'000), TimeModel::lognormal(1'000'000, 0.7)})
    expect_the_referees_weight(options, {.compute = compute});
}

TEST(CertificateWeight, IsTheRefereesWhereDeliveryStopsBeingCausal) {
  for (const std::size_t workers : {8u, 70u}) {
    const TrainOptions options{.workers = workers, .eta = 1e-5, .gradients = {12}};
    VirtualWorld world{.compute = TimeModel::lognormal(5'000'000, 0.7)};
    world.chaos.delay = 0.01;
    world.chaos.delay_up_to = 50'000'000;
    expect_the_referees_weight(options, world);
  }
}

TEST(CertificateWeight, IsNotKeptOfMoreWorkersThanThat) {
  TrainOptions options{.workers = CausalWeights::most_workers + 1, .eta = 1e-5, .gradients = {1}};
  options.topology = "star";
  EXPECT_FALSE(simulate(Quadratic::random(1), options, {}).summary.staleness.W);
}

}  // namespace
}  // namespace dasgd
