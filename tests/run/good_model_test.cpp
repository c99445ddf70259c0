#include "dasgd/run/good_model.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace dasgd {
namespace {

using ::testing::ElementsAre;

TEST(GoodModel, KeepsTheBestThatWasOffered) {
  GoodModel<float> good;
  const std::vector<float> a{1}, b{2}, c{3};
  good.offer(5, a);
  good.offer(2, b);
  good.offer(3, c);
  good.offer(std::nan(""), c);
  EXPECT_EQ(good.take(), b);
}

TEST(GoodModel, KeepsNoneWhereAnotherProcessConcludes) {
  GoodModel<float> good({}, false);
  good.offer(5, std::vector<float>{1});
  EXPECT_TRUE(good.take().empty());
}

TEST(GoodModel, KeepsAWholeModelWhenManyOfferAtOnce) {
  GoodModel<float> good;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&good, t] {
        for (int k = 100; k >= 0; --k)
          good.offer(4 * k + t, std::vector<float>(1000, static_cast<float>(4 * k + t)));
      });
  }
  const std::vector<float> kept = good.take();
  ASSERT_EQ(kept.size(), 1000u);
  EXPECT_EQ(kept, std::vector<float>(1000, kept.front()));
}

TEST(GoodModel, SendsAnEarlyLossOnlyWhenItHasDoubled) {
  std::vector<double> sent;
  GoodModel<float> good([&](double size) { sent.push_back(size); });
  for (const double loss : {0.0, 1.0, 1.5, -2.0, -2.5, 2.4, 7.0}) good.note_early_loss(loss);
  EXPECT_THAT(sent, ElementsAre(1, 2.5, 7));
  EXPECT_EQ(good.early_loss(), 7);
}

TEST(GoodModel, DoesNotReportWhatOthersHaveReportedAlready) {
  std::vector<double> sent;
  GoodModel<float> good([&](double size) { sent.push_back(size); });
  good.hear_early_loss(10);
  EXPECT_EQ(good.early_loss(), 10) << "a worker that starts late is measured by it";
  good.note_early_loss(12);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(good.early_loss(), 12);
  good.hear_early_loss(11);
  EXPECT_EQ(good.early_loss(), 12);
  good.note_early_loss(21);
  good.note_early_loss(25);
  EXPECT_THAT(sent, ElementsAre(25)) << "21 is not twice the 11 that the others know of";
}

}  // namespace
}  // namespace dasgd
