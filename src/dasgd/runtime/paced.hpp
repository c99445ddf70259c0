// Emulated slow workers and padded gradients: the paper's two ways to control staleness
// (section 5).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "dasgd/core/objective.hpp"
#include "dasgd/runtime/control.hpp"

namespace dasgd {

/// How long to sleep after each piece of work so that on average one takes
/// max(its own time, `at_least`) * `factor`: what one sleep was too long, the next ones give back.
/// Owned by one thread.
class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  Pace(double factor, Time at_least) : factor_(factor), at_least_(at_least) {}

  bool changes_anything() const { return factor_ > 1 || at_least_.count() > 0; }

  /// Sleeps after work that took `took`. `now` reads a clock; `sleep` may take longer than asked.
  template <typename Now, typename Sleep>
  void rest_after(Time took, Now&& now, Sleep&& sleep) {
    constexpr double a_year = 3e16;
    const double wanted =
        std::min(a_year, factor_ * static_cast<double>(std::max(took, at_least_).count()));
    const Time due = Time(static_cast<std::int64_t>(wanted)) - took;
    const Time rest = due - std::exchange(overslept_, Time(0));
    if (rest.count() <= 0) {
      overslept_ = -rest;
      return;
    }
    const Time before = now();
    sleep(rest);
    overslept_ = std::clamp(now() - before - rest, Time(0), most_to_give_back);
  }

 private:
  /// A machine that was asleep for an hour is not made up for.
  static constexpr Time most_to_give_back = std::chrono::seconds(1);

  const double factor_;
  const Time at_least_;
  Time overslept_{0};
};

/// Gradients at a pace, by sleeping. A sleep ends when the run is stopped.
template <typename Real>
class Paced final : public Objective<Real> {
 public:
  using Rows = typename Objective<Real>::Rows;

  Paced(const Objective<Real>& inner, double factor, std::chrono::nanoseconds at_least,
        Control& control)
      : Paced(inner, Pace(factor, at_least), control) {}
  Paced(const Objective<Real>& inner, const Pace& pace, Control& control)
      : inner_(inner), pace_(pace), control_(control) {}

  std::unique_ptr<Objective<Real>> for_worker(WorkerId worker) const override {
    auto own = inner_.for_worker(worker);
    if (!own) return nullptr;
    auto paced = std::make_unique<Paced>(*own, pace_, control_);
    paced->own_ = std::move(own);
    return paced;
  }

  double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const override {
    const auto start = now();
    const double loss = inner_.gradient(x, rows, gradient);
    pace_.rest_after(now() - start, now, [this](Pace::Time rest) { control_.sleep_for(rest); });
    return loss;
  }

  bool changes_anything() const { return pace_.changes_anything(); }

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
  static Pace::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  std::unique_ptr<Objective<Real>> own_;  // what `inner_` is, where it is the worker's own
  const Objective<Real>& inner_;
  mutable Pace pace_;  // of the one worker whose thread asks for gradients
  Control& control_;
};

}  // namespace dasgd
