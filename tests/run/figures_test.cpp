#include "dasgd/run/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dasgd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FigureLog, StaysBoundedAndReachesFromTheFirstToTheLast) {
  FigureLog log(16);
  for (std::uint64_t k = 1; k <= 10'000; ++k)
    if (log.wants(k))
      log.add({.seconds = static_cast<double>(k), .gradients = k, .applications = k}, 3.0 * k);
  const auto rows = log.rows();
  EXPECT_LT(rows.size(), 16u);
  EXPECT_GE(rows.size(), 7u);
  EXPECT_GT(rows.back().applications, 9'000u);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    EXPECT_GT(rows[k].applications, rows[k - 1].applications);
    EXPECT_DOUBLE_EQ(rows[k].gradients_per_second,
                     1);  // since the row before, whatever was dropped
    EXPECT_DOUBLE_EQ(rows[k].S_now, 3);
  }
}

TEST(FigureLog, ASecondLookAtTheSameMomentReplacesTheFirst) {
  FigureLog log;
  log.add({.seconds = 1, .applications = 5}, 0);
  log.add({.seconds = 2, .applications = 5}, 0);
  ASSERT_EQ(log.rows().size(), 1u);
  EXPECT_EQ(log.rows()[0].seconds, 2);
}

TEST(Metrics, LinesHaveEveryWorkerUpToALimit) {
  RunFigures figures{.loss = 0.5, .gradients_by_worker = {1, 2}, .inbox_by_worker = {0, 3}};
  EXPECT_THAT(metrics_line(figures),
              HasSubstr(R"("loss":0.5,"gradients_by_worker":[1,2],"inbox_by_worker":[0,3]})"
                        "\n"));
  figures.loss = std::numeric_limits<double>::infinity();
  figures.gradients_by_worker.resize(most_workers_in_metrics + 1);
  EXPECT_THAT(metrics_line(figures), Not(HasSubstr("loss")));
  EXPECT_THAT(metrics_line(figures), Not(HasSubstr("gradients_by_worker")));
}

}  // namespace
}  // namespace dasgd
