#include "dasgd/data/stream/row_window.hpp"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <thread>

namespace dasgd {
namespace {

using ::testing::ElementsAre;

Row row(double label) { return {.values = {label}, .label = label, .dense = true}; }

struct Window : ::testing::Test {
  void add(int first, int last) {
    for (int k = first; k <= last; ++k) ASSERT_TRUE(window.add(row(k), {}));
  }
  std::vector<double> labels(const Draw& draw) const {
    std::vector<double> result;
    for (const std::uint32_t r : draw.rows) result.push_back(window[r].label);
    return result;
  }
  RowWindow window{4};
};

TEST_F(Window, WhoeverAsksFirstGetsTheNextRowsOnce) {
  WindowSource a(window, 2), b(window, 1);
  add(1, 3);
  EXPECT_THAT(labels(a.next()), ElementsAre(1, 2));
  EXPECT_THAT(labels(b.next()), ElementsAre(3));
  EXPECT_EQ(a.next().kind, Draw::Kind::none_now);
  EXPECT_EQ(b.next().kind, Draw::Kind::none_now);
}

TEST_F(Window, KeepsRowsThatOthersLearnFromAndGivesThemToNobody) {
  WindowSource source(window, 1);
  for (int k = 1; k <= 6; ++k) ASSERT_TRUE(window.add(row(k), {}, k % 2 == 0));
  EXPECT_EQ(window.figures().arrived, 6u);
  EXPECT_EQ(window.kept().size(), 4u);
  EXPECT_THAT(labels(source.next()), ElementsAre(2));
  EXPECT_THAT(labels(source.next()), ElementsAre(4));
  EXPECT_THAT(labels(source.next()), ElementsAre(6));
  EXPECT_EQ(source.next().kind, Draw::Kind::none_now);
}

TEST_F(Window, TheLastBatchMayBeSmaller) {
  WindowSource source(window, 2);
  add(1, 3);
  EXPECT_EQ(source.next().rows.size(), 2u);
  EXPECT_EQ(source.next().kind, Draw::Kind::none_now);
  window.end();
  EXPECT_THAT(labels(source.next()), ElementsAre(3));
  EXPECT_EQ(source.next().kind, Draw::Kind::no_more);
}

TEST_F(Window, AFailureComesAfterTheRowsBeforeIt) {
  WindowSource source(window, 2);
  add(1, 1);
  window.end(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_THAT(labels(source.next()), ElementsAre(1));
  EXPECT_THROW(source.next(), std::runtime_error);
}

TEST_F(Window, WakesWhoAskedInVainWhenThereIsABatch) {
  WindowSource dry(window, 2), other(window, 2);
  int woken = 0, woken_other = 0;
  dry.on_arrival([&] { ++woken; });
  other.on_arrival([&] { ++woken_other; });
  EXPECT_EQ(dry.next().kind, Draw::Kind::none_now);
  add(1, 1);
  EXPECT_EQ(woken, 0);
  add(2, 3);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(woken_other, 0);
  dry.next();
  EXPECT_EQ(dry.next().kind, Draw::Kind::none_now);
  window.end();
  EXPECT_EQ(woken, 2);
}

TEST_F(Window, RowsInUseStayWhereTheyAre) {
  WindowSource slow(window, 2), quick(window, 1);
  add(1, 4);
  const Draw held = slow.next();
  for (int k = 5; k < 100; ++k) {
    quick.next();  // uses one of the others
    quick.next();
    if (quick.next().kind == Draw::Kind::none_now) add(k, k);
    ASSERT_THAT(labels(held), ElementsAre(1, 2));
  }
  EXPECT_EQ(window.kept().size(), 4u);
}

TEST_F(Window, AddingWaitsForAPlaceAndLeavesWhenAsked) {
  WindowSource source(window, 2);
  add(1, 4);
  auto fifth = std::async(std::launch::async, [&] { return window.add(row(5), {}); });
  source.next();
  source.next();  // gives 1 and 2 back
  EXPECT_TRUE(fifth.get());
  ASSERT_TRUE(window.add(row(6), {}));
  std::stop_source stop;
  auto seventh =
      std::async(std::launch::async, [&] { return window.add(row(7), stop.get_token()); });
  stop.request_stop();
  EXPECT_FALSE(seventh.get());
}

TEST_F(Window, ASourceThatGoesGivesItsRowsBack) {
  add(1, 4);
  { EXPECT_EQ(WindowSource(window, 4).next().rows.size(), 4u); }
  EXPECT_TRUE(window.add(row(5), {}));
}

TEST(RowWindow, EveryRowIsUsedOnceHoweverManyAsk) {
  constexpr int rows = 5000;
  RowWindow window(32);
  std::vector<std::vector<double>> seen(4);
  {
    std::vector<std::jthread> workers;
    for (auto& mine : seen)
      workers.emplace_back([&window, &mine] {
        WindowSource source(window, 3);
        std::atomic<int> rung = 0;
        source.on_arrival([&rung] {
          rung = 1;
          rung.notify_one();
        });
        for (Draw draw = source.next(); draw.kind != Draw::Kind::no_more; draw = source.next()) {
          for (const std::uint32_t r : draw.rows) mine.push_back(window[r].label);
          if (draw.kind != Draw::Kind::none_now) continue;
          rung.wait(0);
          rung = 0;
        }
      });
    for (int k = 0; k < rows; ++k) {
      window.add(row(k), {});
      if (k % 64 == 0) window.kept();
    }
    window.end();
  }
  std::set<double> all;
  std::size_t count = 0;
  for (const auto& mine : seen) {
    all.insert(mine.begin(), mine.end());
    count += mine.size();
  }
  EXPECT_EQ(count, static_cast<std::size_t>(rows));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(rows));
}

}  // namespace
}  // namespace dasgd
