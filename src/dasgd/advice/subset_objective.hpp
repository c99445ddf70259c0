#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

/// Judges a model by a fixed part of the samples: the whole of them may take minutes.
template <typename Real>
class SubsetObjective final : public Objective<Real> {
 public:
  SubsetObjective(const Objective<Real>& inner, std::uint64_t seed, std::size_t most_rows = 2048)
      : inner_(inner) {
    Random random(seed, Purpose::pilot, 2);
    const auto all = static_cast<std::uint32_t>(inner.samples());
    rows_.resize(std::min<std::size_t>(all, most_rows));
    for (std::uint32_t k = 0; k < rows_.size(); ++k)
      rows_[k] = rows_.size() == all ? k : random.below(all);
  }

  double loss(std::span<const Real> x) const override {
    std::vector<Real> unused(inner_.dimension());
    return inner_.gradient(x, rows_, unused);
  }
  HeldOut evaluate(std::span<const Real>) const override { return {}; }

  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  std::vector<std::uint32_t> labels() const override { return inner_.labels(); }
  std::vector<Real> start() const override { return inner_.start(); }
  double gradient(std::span<const Real> x, Rows rows, std::span<Real> g) const override {
    return inner_.gradient(x, rows, g);
  }
  std::unique_ptr<Oracle<Real>> make_oracle(WorkerId worker) const override {
    return inner_.make_oracle(worker);
  }

 private:
  const Objective<Real>& inner_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace dasgd
