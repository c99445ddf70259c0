#include "dasgd/elastic/adoption/adoption.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dasgd/transport/pending.hpp"

namespace dasgd::elastic {
namespace {

template <typename Real>
using Wrapping = std::conditional_t<std::is_same_v<Real, float>, std::uint64_t, UInt128>;

template <typename Real>
std::span<const Sum<Real>> sums_in(const Bytes& bytes) {
  return {reinterpret_cast<const Sum<Real>*>(bytes.data()), bytes.size() / sizeof(Sum<Real>)};
}

// to += sign * from, wrapping.
template <typename Real>
void accumulate(std::span<const Sum<Real>> from, bool plus, std::span<Sum<Real>> to) {
  using Word = Wrapping<Real>;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Word a = static_cast<Word>(to[k]), b = static_cast<Word>(from[k]);
    to[k] = static_cast<Sum<Real>>(plus ? a + b : a - b);
  }
}

template <typename Real>
void accumulate(const std::vector<Parcel>& parcels, bool plus, std::span<Sum<Real>> to) {
  Pending all;
  for (const Parcel& parcel : parcels) all.add(parcel);
  while (!all.empty()) {
    Bundle sum;
    const Parcel parcel = all.take();
    parcel.bundle ? sum.add(*parcel.bundle) : sum.add(std::span(&parcel.gradient, 1));
    accumulate<Real>(std::as_const(sum).sums<Real>(), plus, to);
  }
}

std::uint64_t samples_of(const std::vector<Parcel>& parcels) {
  std::uint64_t samples = 0;
  for (const Parcel& parcel : parcels)
    parcel.for_each([&](const GradientFacts& g) { samples += g.samples; });
  return samples;
}

GradientSet intersection(GradientSet a, const GradientSet& b) {
  a.intersect(b);
  return a;
}

// Of names that are not in `plan.from`: what the log has whole. The rest is given up.
void keep_what_can_be(const GradientSet& outside, const Log& log, Adoption& plan) {
  outside.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    for (; first < last; ++first) {
      if (plan.names.contains({o, first})) continue;  // kept with others of its bundle
      const Parcel kept = log.find({o, first});
      if (!kept || !Log::is_within(kept, outside)) {
        plan.abandoned.insert({o, first});
        continue;
      }
      kept.for_each([&](const GradientFacts& g) { plan.names.insert(g.name); });
      plan.add.push_back(kept);
    }
  });
}

}  // namespace

std::optional<Adoption> plan_adoption(const Model& from, const GradientSet& held,
                                      std::uint64_t samples, const Log& log,
                                      std::span<const Model> copies, bool abandoning) {
  Adoption plan;
  plan.from = from;
  plan.names = from.names;
  plan.samples = from.samples;
  std::vector<int> times(copies.size() + 1, 0);  // how often each copy, then what is held, is added
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool is_last = i == copies.size();
    const GradientSet& upper = is_last ? held : copies[i].names;
    const GradientSet segment = i == 0 ? upper : upper.without(copies[i - 1].names);
    const GradientSet outside = segment.without(from.names);
    if (auto all = log.all_of(outside)) {
      plan.add.insert(plan.add.end(), all->begin(), all->end());
      plan.names.unite(outside);
      continue;
    }
    const bool is_difference = i > 0 && copies[i - 1].names.count_missing_from(upper) == 0;
    auto inside = is_difference ? log.all_of(intersection(segment, from.names)) : std::nullopt;
    if (inside) {
      ++times[i];
      --times[i - 1];
      plan.subtract.insert(plan.subtract.end(), inside->begin(), inside->end());
      plan.samples += (is_last ? samples : copies[i].samples) - copies[i - 1].samples;
      plan.names.unite(outside);
      continue;
    }
    if (!abandoning) return std::nullopt;
    keep_what_can_be(outside, log, plan);
  }
  plan.samples += samples_of(plan.add) - samples_of(plan.subtract);
  plan.with_held = times.back() > 0;
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (times[i] != 0) (times[i] > 0 ? plan.plus : plan.minus).push_back(copies[i]);
  return plan;
}

template <typename Real>
std::span<const Sum<Real>> carry_out(const Adoption& adoption, std::span<const Sum<Real>> held,
                                     std::vector<Sum<Real>>& room) {
  const auto from = sums_in<Real>(*adoption.from.sums);
  if (adoption.takes_as_it_is()) return from;
  room.assign(from.begin(), from.end());
  const std::span<Sum<Real>> sums(room);
  if (adoption.with_held) accumulate<Real>(held, true, sums);
  for (const Model& m : adoption.plus) accumulate<Real>(sums_in<Real>(*m.sums), true, sums);
  for (const Model& m : adoption.minus) accumulate<Real>(sums_in<Real>(*m.sums), false, sums);
  accumulate<Real>(adoption.add, true, sums);
  accumulate<Real>(adoption.subtract, false, sums);
  return sums;
}

template <typename Real>
std::vector<Sum<Real>> sums_without(const std::vector<Parcel>& gradients,
                                    std::span<const Sum<Real>> held) {
  std::vector<Sum<Real>> sums(held.begin(), held.end());
  accumulate<Real>(gradients, false, std::span(sums));
  return sums;
}

Parcel bundle_without(const std::vector<Parcel>& gradients, const Bundle& bundle) {
  std::vector<GradientFacts> facts = bundle.facts();
  GradientSet taken;
  for (const Parcel& parcel : gradients)
    parcel.for_each([&](const GradientFacts& g) { taken.insert(g.name); });
  std::erase_if(facts, [&](const GradientFacts& f) { return taken.contains(f.name); });
  const auto rest =
      std::make_shared<Bundle>(std::move(facts), bundle.format(), bundle.size_in_bytes());
  const auto take_off = [&]<typename Real>(Real) {
    const auto held = bundle.sums<Real>();
    const std::span<Sum<Real>> sums(reinterpret_cast<Sum<Real>*>(rest->bytes().data()),
                                    held.size());
    std::copy(held.begin(), held.end(), sums.begin());
    accumulate<Real>(gradients, false, sums);
  };
  bundle.format() == NumberFormat::of_float ? take_off(float()) : take_off(double());
  return BundlePtr(rest);
}

template <typename Real>
std::vector<Real> correction(const Adoption& adoption, std::span<const Sum<Real>> before,
                             std::span<const Sum<Real>> after) {
  const auto from = sums_in<Real>(*adoption.from.sums);
  const double unit = std::ldexp(1.0, FixedPoint<Real>::unit_exponent);
  std::vector<Real> direction(before.size());
  for (std::size_t k = 0; k < direction.size(); ++k) {
    const double own = static_cast<double>(after[k] - from[k]) * unit;
    const double other = static_cast<double>(after[k] - before[k]) * unit;
    direction[k] =
        static_cast<Real>((1 - adoption.mean->own) * own + (1 - adoption.mean->other) * other);
  }
  return direction;
}

template std::span<const Sum<float>> carry_out<float>(const Adoption&, std::span<const Sum<float>>,
                                                      std::vector<Sum<float>>&);
template std::span<const Sum<double>> carry_out<double>(const Adoption&,
                                                        std::span<const Sum<double>>,
                                                        std::vector<Sum<double>>&);
template std::vector<Sum<float>> sums_without<float>(const std::vector<Parcel>&,
                                                     std::span<const Sum<float>>);
template std::vector<Sum<double>> sums_without<double>(const std::vector<Parcel>&,
                                                       std::span<const Sum<double>>);
template std::vector<float> correction<float>(const Adoption&, std::span<const Sum<float>>,
                                              std::span<const Sum<float>>);
template std::vector<double> correction<double>(const Adoption&, std::span<const Sum<double>>,
                                                std::span<const Sum<double>>);

}  // namespace dasgd::elastic
