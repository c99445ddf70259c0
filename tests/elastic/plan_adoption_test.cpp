// Every plan leads to x^0 plus the bundle of the names that it gives, whatever it is put together
// from.
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "dasgd/elastic/adoption/adoption.hpp"

namespace dasgd::elastic::plans {
namespace {

constexpr WorkerId a{0}, b{1};
constexpr std::int64_t start = 7;

std::uint32_t samples_of(GradientName name) { return 3 + 2 * name.sequence; }
std::int64_t value_of(GradientName name) {
  return (name.origin == a ? 1 : 1'000'000) << name.sequence;
}

GradientSet set_of(std::initializer_list<NameRange> ranges) {
  GradientSet names;
  for (const NameRange& range : ranges) names.insert_range(range);
  return names;
}

template <typename Visit>
void for_each(const GradientSet& names, Visit&& visit) {
  names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    for (; first < last; ++first) visit(GradientName{o, first});
  });
}

std::int64_t sum_of(const GradientSet& names) {
  std::int64_t sum = start;
  for_each(names, [&](GradientName name) { sum += value_of(name); });
  return sum;
}
std::uint64_t samples_in(const GradientSet& names) {
  std::uint64_t samples = 0;
  for_each(names, [&](GradientName name) { samples += samples_of(name); });
  return samples;
}

Model model_of(std::initializer_list<NameRange> ranges) {
  const GradientSet names = set_of(ranges);
  const Sum<float> sum = sum_of(names);
  Bytes bytes(sizeof(sum));
  std::memcpy(bytes.data(), &sum, sizeof(sum));
  return {names, samples_in(names), std::make_shared<const Bytes>(std::move(bytes))};
}

GradientPtr gradient(GradientName name) {
  auto made = std::make_shared<Gradient>();
  made->name = name;
  made->samples = samples_of(name);
  made->update.resize<float>(1);
  made->update.numbers<float>()[0] = static_cast<Number<float>>(value_of(name));
  return made;
}
BundlePtr bundle(WorkerId origin, std::uint32_t first, std::uint32_t last) {
  auto made = std::make_shared<Bundle>();
  std::vector<GradientPtr> all;
  for (; first < last; ++first) all.push_back(gradient({origin, first}));
  made->add(all);
  return made;
}

struct Planned {
  Log log;
  std::vector<Model> copies;
  GradientSet held;

  std::optional<Adoption> from(const Model& model, bool abandoning = false) const {
    const auto plan = plan_adoption(model, held, samples_in(held), log, copies, abandoning);
    if (!plan) return plan;
    const Sum<float> now = sum_of(held);
    std::vector<Sum<float>> room;
    const auto sums = carry_out<float>(*plan, std::span(&now, 1), room);
    EXPECT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0], sum_of(plan->names));
    EXPECT_EQ(plan->samples, samples_in(plan->names));
    GradientSet all = held;
    all.unite(model.names);
    EXPECT_EQ(all.without(plan->abandoned), plan->names);
    EXPECT_EQ(model.names.count_missing_from(plan->names), 0u);
    return plan;
  }
};

TEST(PlanAdoption, TakesAModelThatHoldsAllAsItIs) {
  Planned planned{.held = set_of({{a, 0, 4}})};
  const auto plan = planned.from(model_of({{a, 0, 5}, {b, 0, 2}}));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->takes_as_it_is());
  EXPECT_EQ(plan->names.size(), 7u);
}

TEST(PlanAdoption, AddsWhatTheLogHas) {
  Planned planned{.held = set_of({{a, 0, 6}})};
  planned.log.add(gradient({a, 2}), 1, true);
  planned.log.add(bundle(a, 3, 6), 1, true);
  const auto plan = planned.from(model_of({{a, 0, 2}, {b, 0, 2}}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->add.size(), 2u);
  EXPECT_EQ(plan->names.size(), 8u);
}

TEST(PlanAdoption, AddsTheDifferenceToTheRightCopy) {
  Planned planned{.copies = {model_of({{a, 0, 2}}), model_of({{a, 0, 4}})},
                  .held = set_of({{a, 0, 6}})};
  auto plan = planned.from(model_of({{a, 0, 2}, {b, 0, 2}}));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->with_held && plan->plus.empty() && plan->minus.size() == 1);
  EXPECT_EQ(plan->names.size(), 8u);

  plan = planned.from(model_of({{a, 0, 2}, {a, 4, 6}, {b, 0, 2}}));  // what came last is there too
  ASSERT_TRUE(plan);
  EXPECT_TRUE(!plan->with_held && plan->plus.size() == 1 && plan->minus.size() == 1);
  EXPECT_EQ(plan->names.size(), 8u);

  plan = planned.from(model_of({{a, 0, 4}, {b, 0, 2}}));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->with_held && plan->plus.empty() && plan->minus.size() == 1);
  EXPECT_EQ(plan->names.size(), 8u);
}

TEST(PlanAdoption, SubtractsWhatBothHave) {
  Planned planned{.copies = {model_of({{a, 0, 2}})}, .held = set_of({{a, 0, 6}})};
  const Model from = model_of({{a, 0, 2}, {a, 4, 5}, {b, 0, 2}});
  EXPECT_FALSE(planned.from(from));
  planned.log.add(gradient({a, 4}), 1, true);
  const auto plan = planned.from(from);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->subtract.size(), 1u);
  EXPECT_EQ(plan->names.size(), 8u);
}

TEST(PlanAdoption, GivesUpByNameWhatIsNotThereInOnePiece) {
  Planned planned{.held = set_of({{a, 0, 9}})};
  planned.log.add(gradient({a, 2}), 1, true);
  planned.log.add(bundle(a, 4, 6), 1, true);
  planned.log.add(bundle(a, 7, 10), 1, true);  // one of it is not held
  const Model from = model_of({{a, 0, 1}, {b, 0, 2}});
  EXPECT_FALSE(planned.from(from));
  const auto plan = planned.from(from, true);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->abandoned, set_of({{a, 1, 2}, {a, 3, 4}, {a, 6, 9}}));
  EXPECT_EQ(plan->add.size(), 2u);
}

}  // namespace
}  // namespace dasgd::elastic::plans
