// An objective of which nothing is known beforehand.
#pragma once

#include "dasgd/core/objective.hpp"

namespace dasgd::test {

/// Hides what another objective knows of itself; its losses are greater by `above`.
class Unknown final : public Objective<double> {
 public:
  explicit Unknown(const Objective<double>& inner, double above = 0)
      : inner_(inner), above_(above) {}
  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    return inner_.gradient(x, rows, g) + above_;
  }

 private:
  const Objective<double>& inner_;
  const double above_;
};

}  // namespace dasgd::test
