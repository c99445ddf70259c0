#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/dasgd.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/run/judge.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Softmax tiny_images(const test::TemporaryDirectory& directory) {
  test::write_tiny_idx(directory);
  return Softmax(image_samples(read_idx_directory(directory.path()), {.scale = Scale::by_255}));
}

/// An objective whose evaluations are set by the test: one after the other, then the last again.
class Judged final : public Objective<double> {
 public:
  explicit Judged(std::vector<double> accuracies) : accuracies_(std::move(accuracies)) {}
  std::size_t dimension() const override { return 1; }
  double gradient(std::span<const double>, Rows, std::span<double> g) const override {
    g[0] = 1e-3;
    return 0;
  }
  HeldOut evaluate(std::span<const double>) const override {
    const std::size_t at = std::min(next_++, accuracies_.size() - 1);
    return {accuracies_[at], 1 - accuracies_[at]};
  }

 private:
  const std::vector<double> accuracies_;
  mutable std::atomic<std::size_t> next_ = 0;
};

TEST(Judge, KeepsTheBestAndLosesPatience) {
  const Judged problem({0.5, 0.7, 0.6, 0.7, 0.9});
  TrainOptions options;
  options.evaluation.every = 1s;
  options.evaluation.patience = 2;
  Judge<double> judge(problem, options);
  const std::vector<double> a{1}, b{2}, c{3};
  EXPECT_TRUE(judge.evaluate(a, 1));
  EXPECT_TRUE(judge.evaluate(b, 2));
  EXPECT_FALSE(judge.evaluate(c, 3));
  EXPECT_EQ(judge.verdict(), std::nullopt);
  EXPECT_FALSE(judge.evaluate(c, 4)) << "as good is not better";
  EXPECT_EQ(judge.verdict(), StopReason::patience);
  EXPECT_EQ(judge.best()->accuracy, 0.7);
  EXPECT_EQ(judge.best()->seconds, 2);
  EXPECT_EQ(judge.best_model(), b);
  EXPECT_TRUE(judge.evaluate(c, 5));
  EXPECT_EQ(judge.verdict(), std::nullopt);
}

TEST(Judge, ALossThatIsNotANumberIsWorseThanAnyOther) {
  const Judged problem({0});
  Judge<double> judge(problem, {});
  const std::vector<double> x{1}, endless{NAN, INFINITY, NAN};
  for (const double loss : endless) judge.note({1, std::nullopt, loss}, x);
  EXPECT_TRUE(judge.note({2, std::nullopt, 5.0}, x));
  for (const double loss : endless) EXPECT_FALSE(judge.note({3, std::nullopt, loss}, x)) << loss;
  EXPECT_FALSE(judge.note({3, std::nullopt, 5.0}, x)) << "as good is not better";
  EXPECT_TRUE(judge.note({4, std::nullopt, 4.0}, x));
  EXPECT_EQ(judge.best()->seconds, 4);
}

TEST(Judge, GoesOnWithWhatAnEarlierLegKnew) {
  const Judged problem({0.5});
  Checkpoint before;
  before.evaluations_since_best = 3;
  TrainOptions options;
  options.resume = &before;
  options.evaluation.best = Evaluation{1, 0.8, 0.2};
  options.evaluation.patience = 4;
  Judge<double> judge(problem, options);
  EXPECT_FALSE(judge.evaluate(std::vector<double>{1}, 2));
  EXPECT_EQ(judge.verdict(), StopReason::patience);
  EXPECT_TRUE(judge.best_model().empty());
}

TEST(Evaluation, RunsBesideTheWorkersAndFindsWhatTheModelIsWorth) {
  const test::TemporaryDirectory directory;
  const Softmax problem = tiny_images(directory);
  TrainOptions options{.workers = 3, .eta = 0.2, .batch = 5, .max_time = 10min};
  options.compute = 100us;
  options.evaluation.every = 5ms;
  options.report_every = 5ms;
  int evaluated = 0;
  bool model_fits = true;
  const auto result = train(
      problem, options, {[&](const Progress<float>& p) {
        evaluated += p.evaluated ? 1 : 0;
        if (p.best)
          model_fits = model_fits && problem.evaluate(p.best_model).accuracy == p.best->accuracy;
        return evaluated >= 3 ? Flow::stop : Flow::go_on;
      }});
  EXPECT_EQ(result.summary.stop_reason, StopReason::callback);
  EXPECT_TRUE(model_fits);
  ASSERT_GE(result.evaluations.size(), 2u);
  EXPECT_EQ(result.evaluations.back().accuracy, result.summary.accuracy);
  ASSERT_TRUE(result.summary.best.has_value());
  EXPECT_GE(*result.summary.best->accuracy, *result.summary.accuracy);
  EXPECT_EQ(problem.evaluate(result.best_model).accuracy, result.summary.best->accuracy);
  for (std::size_t i = 1; i < result.evaluations.size(); ++i)
    EXPECT_GT(result.evaluations[i].seconds, result.evaluations[i - 1].seconds);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Evaluation, StopsAtTheTargetAccuracy) {
  const test::TemporaryDirectory directory;
  TrainOptions options{.workers = 2, .eta = 0.1, .batch = 5};
  options.compute = 100us;
  options.evaluation = {.every = 2ms, .target_accuracy = 0.9};
  const auto result = train(tiny_images(directory), options);
  EXPECT_EQ(result.summary.stop_reason, StopReason::target_accuracy);
  EXPECT_GE(*result.summary.best->accuracy, 0.9);
  EXPECT_TRUE(result.summary.audit_is_clean());
}

TEST(Evaluation, SaysWhetherTheFinalModelMeetsTheTarget) {
  TrainOptions options{.workers = 2, .eta = 0.1};
  options.evaluation = {.every = 1ms, .target_accuracy = 0.8};
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& line) { warnings.push_back(line); };
  const auto met = train(Judged({0.3, 0.9}), options);
  EXPECT_EQ(met.summary.target_met, true);
  EXPECT_TRUE(warnings.empty());
  const auto missed = train(Judged({0.3, 0.9, 0.7}), options);
  EXPECT_EQ(missed.summary.stop_reason, StopReason::target_accuracy);
  EXPECT_EQ(missed.summary.target_met, false);
  EXPECT_EQ(missed.summary.best->accuracy, 0.9);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("accuracy 0.7 instead of 0.8"));
  options.evaluation = {.every = 1ms, .patience = 1};
  EXPECT_EQ(train(Judged({0.3, 0.2}), options).summary.target_met, std::nullopt);
}

TEST(Evaluation, StopsWhenPatienceIsAtItsEnd) {
  TrainOptions options{.workers = 2, .eta = 0.1};
  options.evaluation = {.every = 1ms, .patience = 3};
  const auto result = train(Judged({0.3, 0.5, 0.4}), options);
  EXPECT_EQ(result.summary.stop_reason, StopReason::patience);
  EXPECT_EQ(result.summary.best->accuracy, 0.5);
  EXPECT_EQ(result.evaluations.size(), 2u + 3u + 1u) << "to the best, three more, the final model";
}

TEST(Evaluation, AnEvaluationThatFailsFailsTheRunNotTheProgram) {
  struct Broken final : Objective<double> {
    std::size_t dimension() const override { return 1; }
    double gradient(std::span<const double>, Rows, std::span<double> g) const override {
      g[0] = 0;
      return 0;
    }
    HeldOut evaluate(std::span<const double>) const override {
      throw std::runtime_error("the test images are gone");
    }
  };
  TrainOptions options{.workers = 2, .max_time = 10min};
  options.evaluation.every = 1ms;
  const auto result = run_training<double>(Broken(), options);
  EXPECT_EQ(result.summary.stop_reason, StopReason::failed);
  EXPECT_THAT(test::message_of<std::runtime_error>([&] { std::rethrow_exception(result.failure); }),
              HasSubstr("the test images are gone"));
}

TEST(Evaluation, InVirtualTimeHappensAtGivenInstantsAndChangesNothing) {
  const test::TemporaryDirectory directory;
  const Softmax problem = tiny_images(directory);
  TrainOptions options{.workers = 3, .eta = 0.1, .batch = 5, .epochs = 10};
  const auto plain = simulate(problem, options);
  options.evaluation.every = 500ms;
  const auto judged = simulate(problem, options);
  EXPECT_EQ(judged.summary.replica_digest, plain.summary.replica_digest);
  EXPECT_TRUE(plain.evaluations.empty());
  ASSERT_GE(judged.evaluations.size(), 3u);
  for (std::size_t i = 0; i + 1 < judged.evaluations.size(); ++i) {
    EXPECT_GE(judged.evaluations[i].seconds, 0.5 * static_cast<double>(i + 1));
    EXPECT_LT(judged.evaluations[i].seconds, 0.5 * static_cast<double>(i + 1) + 0.1);
  }
  EXPECT_EQ(problem.evaluate(judged.best_model).accuracy, judged.summary.best->accuracy);
  options.evaluation.target_accuracy = 0.5;
  EXPECT_EQ(simulate(problem, options).summary.stop_reason, StopReason::target_accuracy);
}

TEST(Evaluation, RefusesWhatCannotBe) {
  TrainOptions options;
  options.evaluation.patience = 3;
  EXPECT_THROW(train(Quadratic::random(1), options), InputError);
  options.evaluation = {.every = 1s, .target_accuracy = 1.5};
  EXPECT_THROW(train(Quadratic::random(1), options), InputError);
  options.evaluation = {.every = 1s, .patience = 0};
  EXPECT_THROW(train(Quadratic::random(1), options), InputError);
}

}  // namespace
}  // namespace dasgd
