#include "dasgd/core/bundle.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <rapidcheck/gtest.h>
#include <stdexcept>

#include "dasgd/core/replica.hpp"

namespace dasgd {
namespace {

template <typename Real>
GradientPtr gradient(std::size_t origin, std::uint32_t sequence, const std::vector<Real>& g) {
  auto result = std::make_shared<Gradient>();
  result->name = {worker_id(origin), sequence};
  result->origin_step = sequence;
  result->samples = 3;
  HostReplica<Real>(std::vector<Real>(g.size())).apply_own(0.25, g, result->update);
  return result;
}

Bundle bundle_of(const std::vector<GradientPtr>& gradients) {
  Bundle bundle;
  bundle.add(gradients);
  return bundle;
}

template <typename Real>
void is_the_exact_sum() {
  std::vector<GradientPtr> all;
  for (std::uint32_t k = 0; k < 40; ++k) {
    const auto scale = static_cast<Real>(*rc::gen::element(1e-6, 1e-2, 1.0, 900.0));
    std::vector<Real> g;
    for (int i = 0; i < 5; ++i)
      g.push_back(scale * static_cast<Real>(*rc::gen::inRange(-1000, 1000)) / 1000);
    all.push_back(gradient<Real>(k % 3, k / 3, g));
  }
  const auto cut = static_cast<std::size_t>(*rc::gen::inRange(0, 41));
  Bundle first, second;
  first.add(std::span(all).first(cut));
  second.add(std::span(all).subspan(cut));
  first.add(second);
  HostReplica<Real> one_by_one(std::vector<Real>(5)), folded(std::vector<Real>(5));
  one_by_one.apply(all);
  folded.apply(first);
  RC_ASSERT(std::ranges::equal(one_by_one.sums(), folded.sums()));
  RC_ASSERT(first.size() == 40u);
  RC_ASSERT(first.names().size() == 40u);
  for (std::size_t k = 0; k < 40; ++k) {
    RC_ASSERT(first.facts()[k].name == all[k]->name);
    RC_ASSERT(first.names().contains(all[k]->name));
  }
}

RC_GTEST_PROP(Bundle, IsTheExactSumOfItsGradientsWhereverItIsCut, ()) {
  is_the_exact_sum<float>();
  is_the_exact_sum<double>();
}

TEST(Bundle, KeepsWhatIsKnownOfEachGradient) {
  Bundle bundle;
  const GradientPtr g = gradient<double>(1, 0, {1, 2});
  bundle.add(std::span(&g, 1));
  EXPECT_EQ(bundle.facts()[0].samples, 3u);
  EXPECT_TRUE(bundle.names().contains({WorkerId{1}, 0}));
  EXPECT_EQ(bundle.dimension(), 2u);
}

TEST(Bundle, RefusesANameThatItHas) {
  const std::vector<GradientPtr> one{gradient<float>(0, 0, {1})}, two{gradient<float>(0, 1, {1})};
  Bundle a, b;
  a.add(one);
  b.add(one);
  EXPECT_THROW(a.add(one), std::logic_error);
  EXPECT_THROW(a.add(b), std::logic_error);
  EXPECT_EQ(a.size(), 1u);
  const std::vector<GradientPtr> twice{two[0], two[0]};
  EXPECT_THROW(a.add(twice), std::logic_error);
}

TEST(Bundle, RefusesUpdatesOfAnotherSizeOrFormat) {
  Bundle bundle;
  bundle.add(std::vector<GradientPtr>{gradient<float>(0, 0, {1, 2})});
  EXPECT_THROW(bundle.add(std::vector<GradientPtr>{gradient<float>(0, 1, {1})}), std::logic_error);
  EXPECT_THROW(bundle.add(std::vector<GradientPtr>{gradient<double>(0, 2, {1, 2})}),
               std::logic_error);
}

TEST(Bundle, RefusesABundleOfAnotherSizeOrFormat) {
  Bundle bundle = bundle_of({gradient<float>(0, 0, {1, 2})});
  EXPECT_THROW(bundle.add(bundle_of({gradient<float>(0, 1, {1})})), std::logic_error);
  EXPECT_THROW(bundle.add(bundle_of({gradient<double>(0, 2, {1, 2})})), std::logic_error);
  bundle.add(Bundle());
  EXPECT_EQ(bundle.size(), 1u);
}

TEST(Bundle, OneFromALinkHasItsNamesAndRoomForItsSums) {
  const auto known = [](std::uint32_t sequence) {
    return GradientFacts{.name = {WorkerId{2}, sequence}, .compute_set = {}};
  };
  const Bundle bundle({known(4), known(7)}, NumberFormat::of_double,
                      3 * sum_bytes(NumberFormat::of_double));
  EXPECT_EQ(bundle.names().size(), 2u);
  EXPECT_TRUE(bundle.names().contains({WorkerId{2}, 4}));
  EXPECT_TRUE(bundle.names().contains({WorkerId{2}, 7}));
  EXPECT_EQ(bundle.dimension(), 3u);
  EXPECT_EQ(bundle.sums<double>().size(), 3u);
  EXPECT_THROW(Bundle({known(4), known(4)}, NumberFormat::of_double, 8), std::logic_error);
}

std::vector<GradientName> names_in(const Bundle& bundle) {
  std::vector<GradientName> names;
  bundle.for_each([&](const GradientFacts& f) { names.push_back(f.name); });
  return names;
}

// A worker that passes a bundle on to four neighbours, each time in another sum, has its facts
// once.
TEST(Bundle, SharesTheFactsOfWhatItWasMadeOf) {
  const Bundle part = bundle_of({gradient<float>(0, 0, {1}), gradient<float>(0, 1, {1})});
  std::vector<const GradientFacts*> first, second;
  Bundle a = bundle_of({gradient<float>(1, 0, {1})}), b;
  a.add(part);
  b.add(part);
  a.for_each([&](const GradientFacts& f) { first.push_back(&f); });
  b.for_each([&](const GradientFacts& f) { second.push_back(&f); });
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(std::vector(first.begin() + 1, first.end()), second);
  EXPECT_EQ(b.facts_bytes(), part.facts_bytes()) << "as much as if they were its own";
}

TEST(Bundle, MayGrowWhenAnotherHasTakenItIn) {
  Bundle part = bundle_of({gradient<float>(0, 0, {1})}), sum;
  sum.add(part);
  part.add(bundle_of({gradient<float>(0, 1, {1})}));
  EXPECT_EQ(names_in(sum), (std::vector<GradientName>{{WorkerId{0}, 0}}));
  EXPECT_EQ(names_in(part), (std::vector<GradientName>{{WorkerId{0}, 0}, {WorkerId{0}, 1}}));
}

// As on a chain of workers, each of which adds its own.
TEST(Bundle, KeepsTheOrderOverAnyNumberOfSums) {
  constexpr std::uint32_t hops = 5 * FactsList::most_depth;
  Bundle all;
  std::vector<GradientName> names;
  std::size_t bytes = 0;
  for (std::uint32_t k = 0; k < hops; ++k) {
    const GradientPtr own = gradient<float>(k % 3, k / 3, {1});
    names.push_back(own->name);
    bytes += own->facts_bytes();
    Bundle next;
    next.add(all);
    next.add(std::span(&own, 1));
    all = std::move(next);
  }
  EXPECT_EQ(names_in(all), names);
  EXPECT_EQ(all.facts().size(), hops);
  EXPECT_EQ(all.facts_bytes(), bytes);
  EXPECT_EQ(all.first_name(), names.front());
}

/// A device that the test plays: sums that are kept apart from this machine's.
class SumsOfTest final : public DeviceSums {
 public:
  bool add(std::span<const GradientPtr> gradients) override {
    for (const GradientPtr& g : gradients)
      if (!g->update.on_device()) return false;
    sum_.apply(gradients);
    return true;
  }
  bool add(const DeviceSums& other) override {
    const auto& there = dynamic_cast<const SumsOfTest&>(other).sum_.sums();
    std::vector<Sum<float>> both(sum_.sums().begin(), sum_.sums().end());
    for (std::size_t k = 0; k < both.size(); ++k) both[k] += there[k];
    sum_.restore(both);
    return true;
  }
  std::shared_ptr<DeviceSums> zero_sums() const override { return std::make_shared<SumsOfTest>(); }
  void fetch(std::span<std::byte> to) const override {
    ++fetched;
    std::ranges::copy(std::as_bytes(sum_.sums()), to.begin());
  }
  static inline int fetched = 0;

 private:
  HostReplica<float> sum_{std::vector<float>(2)};
};

class NumbersOfTest final : public DeviceUpdate {
 public:
  explicit NumbersOfTest(Update update) : update_(std::move(update)) {}
  std::size_t size_in_bytes() const override { return update_.size_in_bytes(); }
  bool ready() const override { return true; }
  int fetch(std::span<std::byte> to) const override {
    std::ranges::copy(update_.bytes(), to.begin());
    return update_.shift;
  }
  std::shared_ptr<DeviceSums> zero_sums() const override { return std::make_shared<SumsOfTest>(); }

 private:
  const Update update_;
};

GradientPtr far_gradient(std::uint32_t sequence, const std::vector<float>& g) {
  const GradientPtr here = gradient<float>(0, sequence, g);
  auto far = std::make_shared<Gradient>(*here);
  far->update.put(std::make_shared<NumbersOfTest>(here->update), NumberFormat::of_float);
  return far;
}

TEST(Bundle, IsSummedUpWhereItsUpdatesLieAndFetchedOnce) {
  const std::vector<GradientPtr> some{far_gradient(0, {1, 2}), far_gradient(1, {300, -7})},
      more{far_gradient(2, {5, 5})}, of_this_machine{gradient<float>(1, 0, {0.5, 9})};
  const int fetched = SumsOfTest::fetched;
  Bundle first, all;
  first.add(some);
  all.add(first);
  all.add(more);
  EXPECT_TRUE(all.on_device());
  EXPECT_EQ(all.dimension(), 2u);
  EXPECT_EQ(SumsOfTest::fetched, fetched) << "nobody has asked";
  const auto is_sum_of = [](const Bundle& bundle,
                            std::initializer_list<std::vector<GradientPtr>> g) {
    HostReplica<float> one_by_one(std::vector<float>(2));
    for (const auto& part : g) one_by_one.apply(part);
    return std::ranges::equal(bundle.sums<float>(), one_by_one.sums());
  };
  EXPECT_TRUE(is_sum_of(all, {some, more}));
  EXPECT_TRUE(is_sum_of(all, {some, more}));
  EXPECT_EQ(SumsOfTest::fetched, fetched + 1);
  all.add(std::vector<GradientPtr>{far_gradient(3, {1, 1})});
  EXPECT_TRUE(is_sum_of(all, {some, more, {far_gradient(3, {1, 1})}})) << "the copy was old";
  all.add(of_this_machine);
  EXPECT_FALSE(all.on_device());
  EXPECT_TRUE(is_sum_of(all, {some, more, {far_gradient(3, {1, 1})}, of_this_machine}));
  Bundle unasked;
  unasked.add(some);
  unasked.add(of_this_machine);
  EXPECT_TRUE(is_sum_of(unasked, {some, of_this_machine})) << "what lay elsewhere is lost";
  Bundle mixed;
  mixed.add(of_this_machine);
  mixed.add(first);
  EXPECT_TRUE(is_sum_of(mixed, {of_this_machine, some}));
}

}  // namespace
}  // namespace dasgd
