// How the referee looks at a run.
#include "dasgd/lab/referee/contest/course.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace dasgd {
namespace {

/// f(x) = x.
class Line final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    g[0] = 1;
    return x[0];
  }
  HeldOut evaluate(std::span<const double> x) const override {
    ++evaluations;
    return {std::nullopt, x[0]};
  }
  mutable std::size_t evaluations = 0;
};

/// Looks at a run whose losses are these, a second apart, until the course has seen enough.
/// Between two looks `workers` make ten gradients.
ContestRun follow(const std::vector<double>& losses, const CoursePace& pace = {},
                  std::size_t workers = 1) {
  const Line line;
  ModelJudge<double> model_judge(line);
  Course<double> course(model_judge, {Goal::Kind::loss, 1.0}, workers, true, pace);
  for (std::size_t k = 0; k < losses.size(); ++k) {
    const std::vector<std::span<const double>> models{std::span(&losses[k], 1)};
    if (course.look({.time = static_cast<Nanoseconds>(k) * 1'000'000'000,
                     .models = models,
                     .gradients = 10 * k}))
      break;
  }
  return course.conclude();
}

TEST(Course, AGoalIsReachedAtTheFirstOfTwoLooksThatBothFindItReached) {
  const ContestRun run = follow({4, 2, 0.9, 3, 2, 0.8, 0.7, 0.6});
  EXPECT_TRUE(run.reached);
  EXPECT_EQ(run.time_s, 5);
  EXPECT_EQ(run.gradients_used, 50u);
  EXPECT_EQ(run.loss_mean, 0.8);
  EXPECT_EQ(run.loss_worst, 0.8);
  EXPECT_EQ(run.curve.size(), 7u);
}

TEST(Course, ACurveThatOnlyTouchesTheGoalHasNotReachedIt) {
  const ContestRun run = follow({4, 2, 0.9, 3, 2, 0.8, 2, 0.9});
  EXPECT_FALSE(run.reached);
  EXPECT_EQ(run.time_s, 7);
}

TEST(Course, LooksThatAreCloserThanGradientsConfirmNothingUntilEachWorkerHasMadeOne) {
  constexpr std::size_t workers = 25;  // ten gradients: the third look has another one of each
  EXPECT_FALSE(follow({4, 0.9, 0.9, 0.9, 2, 2}, {}, workers).reached);
  const ContestRun run = follow({4, 0.9, 0.9, 2, 0.8, 0.8, 0.8, 0.8, 0.7, 0.6}, {}, workers);
  EXPECT_TRUE(run.reached);
  EXPECT_EQ(run.time_s, 4);
  EXPECT_EQ(run.curve.size(), 8u);
}

TEST(Course, WhereARunIsCompleteItsLastLooksConfirmAGoal) {
  const Line line;
  ModelJudge<double> model_judge(line);
  const auto follow_to_the_end = [&](const std::vector<double>& losses, bool complete) {
    Course<double> course(model_judge, {Goal::Kind::loss, 1.0}, 25, true);
    for (std::size_t k = 0; k < losses.size(); ++k) {
      const std::vector<std::span<const double>> models{std::span(&losses[k], 1)};
      EXPECT_FALSE(course.look({.time = static_cast<Nanoseconds>(k) * 1'000'000'000,
                                .models = models,
                                .gradients = 10 * k}));
    }
    return course.conclude(complete);
  };
  const ContestRun run = follow_to_the_end({4, 2, 0.9, 0.8, 0.7}, true);
  EXPECT_TRUE(run.reached);
  EXPECT_EQ(run.time_s, 2);
  EXPECT_FALSE(follow_to_the_end({4, 2, 0.9, 0.8, 0.7}, false).reached) << "its time was over";
  EXPECT_FALSE(follow_to_the_end({4, 2, 2, 2, 0.7}, true).reached) << "one look";
  EXPECT_FALSE(follow_to_the_end({4, 0.9, 0.8, 2, 0.7}, true).reached);
}

TEST(Course, ATrialThatFallsBehindTheBestIsGivenUp) {
  const ContestRun best = follow({16, 14, 12, 10, 8, 6, 4, 2, 0.9, 0.8});
  ASSERT_EQ(best.time_s, 8);
  const CoursePace pace{&best, 2};
  // Half as fast is not too slow; a third is, from the middle of the best one's time on.
  const std::vector<double> half{16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1.5, 0.9, 0.8};
  EXPECT_EQ(follow(half, pace).time_s, 16);
  const std::vector<double> third{16, 15.5, 15, 14, 13.5, 13, 12, 11.5, 11, 10, 9.5, 9};
  const ContestRun ended = follow(third, pace);
  EXPECT_FALSE(ended.reached);
  EXPECT_EQ(ended.time_s, 5);
  EXPECT_EQ(follow(third).time_s, 11);
  // One that was as good once, or is only late at the beginning, goes on.
  EXPECT_EQ(follow({16, 16, 16, 16, 5, 16, 16, 16, 16, 16}, pace).time_s, 9);
  EXPECT_EQ(follow({16, 16, 16, 16, 13, 11, 5, 2, 0.9, 0.8}, pace).time_s, 8);
  // Beside one that did not get there either.
  const ContestRun lost = follow({16, 14, 12, 10, 8});
  EXPECT_EQ(follow({16, 15.9, 15.8, 15.7, 15.6, 15.5}, {&lost, 2}).time_s, 3);
}

TEST(Course, ATrialThatIsFarBehindIsGivenUpEarlier) {
  std::vector<double> losses, fifth, third;
  for (int t = 0; t <= 40; ++t) {
    losses.push_back(42 - t);
    fifth.push_back(42 - t / 5.0);
    third.push_back(42 - t / 3.0);
  }
  const ContestRun best = follow(losses);
  ASSERT_FALSE(best.reached);
  ASSERT_EQ(best.time_s, 40);
  // At 8 s and at 9 s it is at 40.4 and 40.2; the best one was at 40 after 2 s.
  EXPECT_EQ(follow(fifth, {&best, 2}).time_s, 9);
  EXPECT_EQ(follow(third, {&best, 2}).time_s, 21);
  EXPECT_EQ(follow(fifth, {&best, 8}).time_s, 40);
}

TEST(Course, ARunThatStaysWorseThanItsStartIsGivenUp) {
  std::vector<double> losses(100, 5);
  losses[0] = 4;
  EXPECT_EQ(follow(losses).curve.size(), 21u);
  losses[10] = 3;  // it was better once
  EXPECT_EQ(follow(losses).curve.size(), 31u);
  // Twenty looks at fewer gradients are too few: 800 are eighty of each of ten workers.
  losses[10] = 5;
  EXPECT_EQ(follow(losses, {}, 10).curve.size(), 81u);
}

TEST(Course, ALookAtTheGoalBeginsTheCountAgain) {
  std::vector<double> losses(30, 5);
  losses[0] = 0.5;  // below the goal, and never again
  losses[10] = 0.9;
  EXPECT_EQ(follow(losses).curve.size(), 22u);
  losses[10] = 5;
  EXPECT_EQ(follow(losses).curve.size(), 12u);
}

/// A model says itself how good it is: its loss, then its accuracy.
class Outspoken final : public Objective<double> {
 public:
  std::size_t dimension() const override { return 2; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    std::ranges::fill(g, 0);
    return x[0];
  }
  HeldOut evaluate(std::span<const double> x) const override { return {x[1], x[0]}; }
};

// A large step multiplies the loss at first, and the model gets better all the same.
TEST(Course, ARunThatGetsMoreAccurateIsNotLost) {
  const Outspoken outspoken;
  ModelJudge<double> model_judge(outspoken);
  const auto looks_at = [&](std::size_t better_until) {
    Course<double> course(model_judge, {Goal::Kind::accuracy, 0.9}, 1, true);
    for (std::size_t k = 0; k < 100; ++k) {
      const std::array<double, 2> model{
          k == 0 ? 2.0 : 6.0, 0.1 + 0.005 * static_cast<double>(std::min(k, better_until))};
      const std::vector<std::span<const double>> models{model};
      if (course.look({.time = static_cast<Nanoseconds>(k) * 1'000'000'000,
                       .models = models,
                       .gradients = 10 * k}))
        break;
    }
    return course.conclude().curve.size();
  };
  EXPECT_EQ(looks_at(0), 12u) << "three times the loss at the start, and nothing gained";
  EXPECT_EQ(looks_at(50), 62u);
  EXPECT_EQ(looks_at(100), 100u);
}

// Beside one that did not get there, a slow one goes on while accuracy or loss is as good.
TEST(Course, ATrialBesideOneThatMissedAnAccuracyIsBehindOnlyIfItsLossIsAsWell) {
  const Outspoken outspoken;
  ModelJudge<double> model_judge(outspoken);
  const auto follow_it = [&](double loss, double accuracy, const CoursePace& pace) {
    Course<double> course(model_judge, {Goal::Kind::accuracy, 0.9}, 1, true, pace);
    for (std::size_t k = 0; k < 40; ++k) {
      const std::array<double, 2> model{loss, accuracy};
      const std::vector<std::span<const double>> models{model};
      if (course.look({.time = static_cast<Nanoseconds>(k) * 1'000'000'000,
                       .models = models,
                       .gradients = 10 * k}))
        break;
    }
    return course.conclude();
  };
  const ContestRun missed = follow_it(1.5, 0.8, {});
  ASSERT_EQ(missed.curve.size(), 40u);
  EXPECT_EQ(follow_it(1.0, 0.7, {&missed, 2}).curve.size(), 40u);
  EXPECT_EQ(follow_it(2.0, 0.85, {&missed, 2}).curve.size(), 40u);
  EXPECT_LT(follow_it(2.0, 0.7, {&missed, 2}).curve.size(), 10u);
}

TEST(Course, OneModelIsEvaluatedOnceForAll) {
  const Line line;
  ModelJudge<double> model_judge(line);
  const double a = 2, b = 3;
  for (const double* x : {&a, &b, &a, &a, &b})
    EXPECT_EQ(*model_judge.evaluate(std::span(x, 1)).loss, *x);
  EXPECT_EQ(line.evaluations, 2u);
  EXPECT_EQ(model_judge.evaluated(), 2u);
}

}  // namespace
}  // namespace dasgd
