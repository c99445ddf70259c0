// Emulated slow workers and padded gradients: the paper's two ways to control staleness
// (section 5).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "dasgd/core/oracle.hpp"
#include "dasgd/runtime/control.hpp"

namespace dasgd {

/// How long to sleep after each piece of work so that one takes max(its own time, `time`) *
/// `factor`, or (its own time + `time`) * `factor`. What one sleep was too long, the next ones give
/// back, as far as `factor` makes them longer: each takes at least `time`, or its own time +
/// `time`. Owned by one thread.
class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  Pace(double factor, Time time, bool adds = false) : factor_(factor), time_(time), adds_(adds) {}

  bool changes_anything() const { return factor_ > 1 || time_.count() > 0; }

  /// Sleeps after work that took `took`. `now` reads a clock; `sleep` may take longer than asked.
  template <typename Now, typename Sleep>
  void rest_after(Time took, Now&& now, Sleep&& sleep) {
    constexpr double a_year = 3e16;
    const Time usual = adds_ ? took + time_ : std::max(took, time_);
    const double wanted = std::min(a_year, factor_ * static_cast<double>(usual.count()));
    const Time due = Time(static_cast<std::int64_t>(wanted)) - took;
    const Time given_back = std::min(overslept_, std::max(due - (usual - took), Time(0)));
    const Time rest = due - given_back;
    overslept_ -= given_back;
    if (rest.count() <= 0) return;
    const Time before = now();
    sleep(rest);
    const Time too_long = std::max(now() - before - rest, Time(0));
    overslept_ = std::min(overslept_ + too_long, most_to_give_back);
  }

 private:
  /// A machine that was asleep for an hour is not made up for.
  static constexpr Time most_to_give_back = std::chrono::seconds(1);

  const double factor_;
  const Time time_;
  const bool adds_;
  Time overslept_{0};
};

/// Gradients at a pace, by sleeping. A sleep ends when the run is stopped.
template <typename Real>
class Paced final : public Oracle<Real> {
 public:
  Paced(std::unique_ptr<Oracle<Real>> inner, const Pace& pace, Control& control)
      : inner_(std::move(inner)), pace_(pace), control_(control) {}

  double gradient(ComputePoint<Real>& point, const Batch& batch,
                  std::span<Real> gradient) override {
    return at_pace([&] { return inner_->gradient(point, batch, gradient); });
  }
  bool makes_whole_steps() const override { return inner_->makes_whole_steps(); }
  /// Never runs ahead: what is slowed down is the whole step.
  std::optional<WholeStep> whole_step(ComputePoint<Real>& point, const Batch& batch,
                                      UpdateRule<Real>& rule, std::uint64_t t,
                                      Update& update) override {
    return at_pace([&] { return inner_->whole_step(point, batch, rule, t, update); });
  }
  void give_memory_back(UpdateRule<Real>& rule) override { inner_->give_memory_back(rule); }
  std::unique_ptr<Replica<Real>> make_replica(std::span<const Real> x0) override {
    return inner_->make_replica(x0);
  }
  void computes_at(ComputePoint<Real>& point) override { inner_->computes_at(point); }
  Bytes state() const override { return inner_->state(); }
  void restore(std::span<const Bytes> states) override { inner_->restore(states); }

 private:
  template <typename Work>
  auto at_pace(Work&& work) {
    const auto start = now();
    auto result = work();
    if constexpr (std::is_same_v<decltype(result), std::optional<WholeStep>>)
      if (!result) return result;  // `gradient` will be asked
    pace_.rest_after(now() - start, now, [this](Pace::Time rest) { control_.sleep_for(rest); });
    return result;
  }
  static Pace::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  const std::unique_ptr<Oracle<Real>> inner_;
  Pace pace_;
  Control& control_;
};

/// An oracle at that pace: itself, where the pace changes nothing.
template <typename Real>
std::unique_ptr<Oracle<Real>> paced(std::unique_ptr<Oracle<Real>> oracle, const Pace& pace,
                                    Control& control) {
  if (!pace.changes_anything()) return oracle;
  return std::make_unique<Paced<Real>>(std::move(oracle), pace, control);
}

}  // namespace dasgd
