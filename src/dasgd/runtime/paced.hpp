// Emulated slow workers and padded gradients: the paper's two ways to control staleness (section
// 5).
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "dasgd/core/objective.hpp"
#include "dasgd/runtime/control.hpp"

namespace dasgd {

/// Makes each gradient take max(its own time, `at_least`) * `factor`, by sleeping.
template <typename Real>
class Paced final : public Objective<Real> {
 public:
  using Rows = typename Objective<Real>::Rows;

  Paced(const Objective<Real>& inner, double factor, std::chrono::nanoseconds at_least,
        Control& control)
      : inner_(inner), factor_(factor), at_least_(at_least), control_(control) {}

  std::unique_ptr<Objective<Real>> for_worker(WorkerId worker) const override {
    auto own = inner_.for_worker(worker);
    if (!own) return nullptr;
    auto paced = std::make_unique<Paced>(*own, factor_, at_least_, control_);
    paced->own_ = std::move(own);
    return paced;
  }

  double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const override {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const double loss = inner_.gradient(x, rows, gradient);
    const auto took = Clock::now() - start;
    constexpr double a_year = 3e16;
    const double wanted =
        std::min(a_year, factor_ * static_cast<double>(std::max(took, at_least_).count()));
    const std::chrono::nanoseconds rest(static_cast<std::int64_t>(wanted) - took.count());
    if (rest.count() > 0) control_.sleep_for(rest);
    return loss;
  }

  bool changes_anything() const { return factor_ > 1 || at_least_.count() > 0; }

  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  std::vector<Real> start() const override { return inner_.start(); }
  std::unique_ptr<Replica<Real>> make_replica() const override { return inner_.make_replica(); }
  void prefetch(Rows rows) const override { inner_.prefetch(rows); }
  void at_batch(std::uint64_t number) const override { inner_.at_batch(number); }
  Bytes state() const override { return inner_.state(); }
  void restore(std::span<const Bytes> states) override {
    if (own_) own_->restore(states);
  }

 private:
  std::unique_ptr<Objective<Real>> own_;  // what `inner_` is, where it is the worker's own
  const Objective<Real>& inner_;
  const double factor_;
  const std::chrono::nanoseconds at_least_;
  Control& control_;
};

}  // namespace dasgd
