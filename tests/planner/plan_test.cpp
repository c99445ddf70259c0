// The planner: settings of the exchange of updates, simulated and compared.
#include "dasgd/lab/planner/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/lab/planner/plan_text.hpp"
#include "dasgd/lab/planner/stand_in.hpp"

namespace dasgd::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

NetworkCase thin(std::size_t workers = 4) {
  return {.workers = workers, .numbers = 11e6, .card = 12.5e6};
}
const StandIn problem(16, 64);
const Goal goal{Goal::Kind::loss, 0.05 * problem.loss(problem.start())};
const NetworkEffort little{.applications = 2000, .steps = 1, .further = 1};
void quiet(std::size_t, std::size_t, const std::string&) {}

std::string flags(const Exchange& exchange) { return exchange.relay + " " + exchange.message; }

PlannedRow row(const Exchange& exchange, bool reached, double seconds, double loss = 0.01) {
  return {exchange, {.way = exchange.way(), .reached = reached, .seconds = seconds, .loss = loss}};
}

TEST(StandIn, NoiseHasNoMeanAndTheLeastLossIsNone) {
  std::vector<float> g(16), full(16), sum(16, 0);
  const std::vector<float> x = problem.start();
  for (std::uint32_t k = 0; k < 64; ++k) {
    problem.gradient(x, std::span(&k, 1), g);
    for (std::size_t i = 0; i < 16; ++i) sum[i] += g[i] / 64;
  }
  EXPECT_NEAR(problem.full_gradient(x, full), problem.loss(x), 1e-12);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(sum[i], full[i], 1e-4);
  EXPECT_EQ(problem.loss(std::vector<float>(16, 0.0F)), 0);
}

TEST(Exchange, IsARowOfCompare) {
  EXPECT_EQ(Exchange{}.way(), "dasgd:look_ahead=auto");
  const Exchange tree{"tree:4", "int8", "off"};
  EXPECT_EQ(tree.way(), "dasgd:look_ahead=off:relay=tree:4:message=int8");
}

TEST(Plan, RecommendsTheFirstRowOfThoseThatAreNotWorse) {
  const std::vector<PlannedRow> rows{row({"mesh", "full"}, false, 100, 0.2),
                                     row({"tree:4", "full"}, true, 62),
                                     row({"mesh", "int8"}, true, 52),
                                     row({"tree:4", "int8"}, true, 50),
                                     {{}, {.way = "minibatch", .reached = true, .seconds = 10}}};
  EXPECT_EQ(recommended_row(rows), 2u);  // within 5 % of the fourth; rivals are not recommended
  EXPECT_EQ(recommended_row({rows[0], rows[4]}), 0u);
  EXPECT_EQ(recommended_row({rows[4]}), std::nullopt);
  Plan plan{rows, 2};
  EXPECT_THAT(recommendation_of(plan, flags), HasSubstr("recommended: mesh int8   (52 s; "
                                                        "minibatch 10 s, faster here)"));
}

TEST(Plan, WhereNobodyArrivesTheSmallestLossDecides) {
  EXPECT_EQ(recommended_row({row({"mesh", "full"}, false, 100, 0.5),
                             row({"mesh", "int8"}, false, 100, 0.1),
                             row({"mesh", "int4"}, false, 100, 0.104)}),
            1u);
}

TEST(Plan, ARivalThatDoesNotArriveEitherIsNotFaster) {
  Plan plan{{row({"mesh", "full"}, false, 100, 0.5),
             {{}, {.way = "minibatch", .seconds = 100, .loss = 0.1}}},
            0};
  EXPECT_THAT(recommendation_of(plan, flags), Not(HasSubstr("faster")));
}

TEST(Plan, SimulatesEveryWayAndIsTheSameAgain) {
  const Plan plan = plan_network<float>(problem, thin(), goal, little, quiet);
  ASSERT_EQ(plan.rows.size(), 12u);
  EXPECT_EQ(plan.rows.front().exchange->relay, "mesh");
  EXPECT_EQ(plan.rows.front().exchange->message, "full");
  EXPECT_EQ(plan.rows[10].row.way, "minibatch");
  EXPECT_EQ(plan.rows[11].row.way, "diloco:adam=0");
  ASSERT_TRUE(plan.recommended);
  std::size_t without = 0;
  for (const PlannedRow& planned : plan.rows) {
    EXPECT_TRUE(planned.row.was_run());
    EXPECT_LE(planned.row.card_bytes_per_second, 12.5e6 * 1.01) << planned.name();
    EXPECT_EQ(planned.row.S_avg.has_value(), planned.exchange.has_value());
    without += planned.exchange && planned.exchange->look_ahead == "off";
  }
  EXPECT_EQ(without, 1u);
  EXPECT_EQ(table_of(plan), table_of(plan_network<float>(problem, thin(), goal, little, quiet)));
  const auto json = nlohmann::json::parse(to_json(plan, thin(), "a stand-in", flags));
  EXPECT_EQ(json["rows"].size(), 12u);
  EXPECT_EQ(json["network"]["workers"], 4);
  EXPECT_EQ(json["recommended"]["flags"], flags(*plan.rows[*plan.recommended].exchange));
}

TEST(Plan, EndsWhenItsTimeIsUp) {
  NetworkEffort effort = little;
  std::size_t asked = 0;
  effort.time_is_up = [&] { return ++asked > 6; };  // of a clock that is not real
  const Plan plan = plan_network<float>(problem, thin(), goal, effort, quiet);
  std::size_t left_out = 0;
  for (const PlannedRow& planned : plan.rows) left_out += !planned.row.was_run();
  EXPECT_GE(left_out, 8u);
  EXPECT_THAT(table_of(plan), HasSubstr("not simulated: the time for simulations was over"));
}

TEST(Plan, AStopEndsIt) {
  NetworkEffort effort = little;
  std::stop_source source;
  source.request_stop();
  effort.stop = source.get_token();
  EXPECT_THROW(plan_network<float>(problem, thin(), goal, effort, quiet), ContestInterrupted);
}

TEST(NetworkCase, MessagesAreThoseOfTheLargeModel) {
  // One full model of 11 million numbers takes 3.52 s on a card of 100 Mbit/s.
  NetworkEffort effort = little;
  effort.applications = 1000;  // a minute
  const NetworkRow full = simulate_way<float>(problem, thin(), goal, "minibatch", 0.1, effort);
  // 2 (n - 1) / n models and a gradient are a round of 6.28 s of four gradients.
  EXPECT_NEAR(full.gradients_per_second, 4 / 6.28, 0.1);
  const NetworkRow few =
      simulate_way<float>(problem, thin(), goal, Exchange{"mesh", "int8"}.way(), 0.1, effort);
  EXPECT_NEAR(few.gradients_per_second, 4, 0.3);
}

TEST(NetworkCase, AMeshWithTooManyMessagesOrLinksIsLeftOut) {
  NetworkCase network = thin(1000);
  network.numbers = 1000;
  NetworkEffort effort = little;
  effort.applications = 3e7;  // half a minute of trees
  const NetworkRow mesh =
      simulate_way<float>(problem, network, goal, Exchange{}.way(), 1e-3, effort);
  EXPECT_FALSE(mesh.was_run());
  EXPECT_THAT(mesh.left_out, HasSubstr("30 million messages"));
  effort.applications = 1e6;
  const NetworkRow shorter =
      simulate_way<float>(problem, network, goal, Exchange{}.way(), 1e-3, effort);
  EXPECT_FALSE(shorter.was_run());
  EXPECT_EQ(shorter.left_out, "1.0 million links are too many to simulate");
}

}  // namespace
}  // namespace dasgd::test
