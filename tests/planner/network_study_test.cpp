// `dasgd reproduce network`, in small.
#include "dasgd/lab/planner/network_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dasgd::test {
namespace {

using ::testing::HasSubstr;

NetworkStudy small() {
  NetworkStudy study;
  study.parts = {
      {{4}, {93e3}, {12.5e6, 125e6}, {.applications = 500, .steps = 1, .further = 0}, 0.5}};
  study.rate_workers = {4};
  return study;
}

TEST(NetworkStudy, HasACellForEveryWayOnEveryNetwork) {
  std::size_t most = 0;
  const NetworkFindings findings =
      study_networks(small(), [&](std::size_t done, std::size_t) { most = std::max(most, done); });
  ASSERT_EQ(findings.cells.size(), 2u * 10);
  EXPECT_EQ(most, 20u);
  for (const NetworkCell& cell : findings.cells) EXPECT_TRUE(cell.row.was_run());
  const std::string csv = to_csv(findings);
  EXPECT_THAT(csv, HasSubstr("4,93000,100,\"dasgd, tree:4, int8\","));
  EXPECT_THAT(csv, HasSubstr("sparseloco"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 21);
  const auto json = nlohmann::json::parse(to_json(findings));
  EXPECT_EQ(json.size(), 20u + findings.rates.size());
  EXPECT_THAT(to_svg(findings), HasSubstr("4 workers"));
}

TEST(NetworkStudy, APartMayHaveSomeWaysOnly) {
  NetworkStudy study = small();
  study.parts.front().ways = {"minibatch", "dasgd:look_ahead=auto:relay=tree:4"};
  study.rate_workers = {};
  const NetworkFindings findings = study_networks(study, [](auto, auto) {});
  ASSERT_EQ(findings.cells.size(), 2u * 2);
  EXPECT_EQ(findings.cells[0].row.way, "minibatch");
  EXPECT_EQ(short_name(findings.cells[1].row.way), "dasgd, tree:4, full");
}

TEST(NetworkStudy, ReachesToAThousandWorkersOnATree) {
  std::vector<std::string> ways;
  for (const NetworkStudy::Part& part : NetworkStudy::full().parts)
    if (part.workers == std::vector<std::size_t>{1000} && part.cards.front() == 125e6)
      for (const std::string& way : part.ways) ways.push_back(short_name(way));
  EXPECT_THAT(ways, ::testing::ElementsAre("dasgd, tree:4, int8", "dasgd, tree:4, int4",
                                           "minibatch", "local-sgd", "diloco", "sparseloco"));
}

TEST(NetworkStudy, ThinCardsDoNotSlowGradientsDown) {
  for (const NetworkRate& rate : study_networks(small(), [](auto, auto) {}).rates) {
    EXPECT_GT(rate.unlimited, 3.5);
    EXPECT_GE(rate.ratio(), 0.97) << rate.workers << " " << rate.relay << " " << rate.card;
  }
}

TEST(NetworkStudy, AStopEndsIt) {
  NetworkStudy study = small();
  std::stop_source source;
  source.request_stop();
  study.stop = source.get_token();
  EXPECT_THROW(study_networks(study, [](auto, auto) {}), ContestInterrupted);
}

TEST(NetworkStudy, WaysHaveShortNames) {
  EXPECT_EQ(short_name("dasgd:look_ahead=auto"), "dasgd, mesh, full");
  EXPECT_EQ(short_name("dasgd:look_ahead=auto:relay=tree:4:message=int8"), "dasgd, tree:4, int8");
  EXPECT_EQ(short_name("dasgd:look_ahead=auto:relay=tree:4"), "dasgd, tree:4, full");
  EXPECT_EQ(short_name("diloco:adam=0"), "diloco");
}

}  // namespace
}  // namespace dasgd::test
