#include "dasgd/elastic/adoption.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

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
void accumulate(const std::vector<GradientPtr>& gradients, bool plus, std::span<Sum<Real>> to) {
  if (gradients.empty()) return;
  Bundle bundle;
  bundle.add(gradients);
  accumulate<Real>(std::as_const(bundle).sums<Real>(), plus, to);
}

std::uint64_t samples_of(const std::vector<GradientPtr>& gradients) {
  std::uint64_t samples = 0;
  for (const GradientPtr& g : gradients) samples += g->samples;
  return samples;
}

GradientSet intersection(GradientSet a, const GradientSet& b) {
  a.intersect(b);
  return a;
}

}  // namespace

std::optional<Adoption> plan_adoption(const Model& from, const GradientSet& held,
                                      std::uint64_t samples, const Log& log,
                                      const std::optional<Model>& split, bool abandoning) {
  Adoption plan;
  plan.from = from;
  plan.names = held;
  plan.names.unite(from.names);
  const GradientSet beside = held.without(from.names);
  if (auto all = log.all_of(beside)) {
    plan.add = std::move(*all);
    plan.samples = from.samples + samples_of(plan.add);
    return plan;
  }
  // (A, s) - (B, t) wants B within A.
  if (split && split->names.count_missing_from(held) == 0) {
    auto twice = log.all_of(intersection(held.without(split->names), from.names));
    auto old = log.all_of(split->names.without(from.names));
    if (twice && old) {
      plan.base = split;
      plan.add = std::move(*old);
      plan.subtract = std::move(*twice);
      plan.samples = from.samples + (samples - split->samples) + samples_of(plan.add) -
                     samples_of(plan.subtract);
      return plan;
    }
  }
  if (!abandoning) return std::nullopt;
  plan.names = from.names;
  beside.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    for (; first < last; ++first) {
      const GradientName name{o, first};
      if (GradientPtr kept = log.find(name)) {
        plan.names.insert(name);
        plan.add.push_back(std::move(kept));
      } else {
        plan.abandoned.insert(name);
      }
    }
  });
  plan.samples = from.samples + samples_of(plan.add);
  return plan;
}

template <typename Real>
std::vector<Sum<Real>> carry_out(const Adoption& adoption, std::span<const Sum<Real>> held) {
  const auto from = sums_in<Real>(*adoption.from.sums);
  std::vector<Sum<Real>> sums(from.begin(), from.end());
  if (adoption.base) {
    accumulate<Real>(held, true, sums);
    accumulate<Real>(sums_in<Real>(*adoption.base->sums), false, sums);
  }
  accumulate<Real>(adoption.add, true, sums);
  accumulate<Real>(adoption.subtract, false, sums);
  return sums;
}

template <typename Real>
std::vector<Real> correction(const Adoption& adoption, std::span<const Sum<Real>> before,
                             std::span<const Sum<Real>> after) {
  const auto base = sums_in<Real>(*adoption.mean->split.sums);
  const double unit = std::ldexp(1.0, FixedPoint<Real>::unit_exponent);
  std::vector<Real> direction(before.size());
  for (std::size_t k = 0; k < direction.size(); ++k) {
    const double own = static_cast<double>(before[k] - base[k]) * unit;
    const double other = static_cast<double>(after[k] - before[k]) * unit;
    direction[k] =
        static_cast<Real>((1 - adoption.mean->own) * own + (1 - adoption.mean->other) * other);
  }
  return direction;
}

template std::vector<Sum<float>> carry_out<float>(const Adoption&, std::span<const Sum<float>>);
template std::vector<Sum<double>> carry_out<double>(const Adoption&, std::span<const Sum<double>>);
template std::vector<float> correction<float>(const Adoption&, std::span<const Sum<float>>,
                                              std::span<const Sum<float>>);
template std::vector<double> correction<double>(const Adoption&, std::span<const Sum<double>>,
                                                std::span<const Sum<double>>);

}  // namespace dasgd::elastic
