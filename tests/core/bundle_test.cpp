#include "dasgd/core/bundle.hpp"

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
  for (std::size_t k = 0; k < 40; ++k) RC_ASSERT(first.facts()[k].name == all[k]->name);
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

}  // namespace
}  // namespace dasgd
