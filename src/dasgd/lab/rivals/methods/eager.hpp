// DiLoCo whose mean travels while the next own steps are made (Kale, Douillard, Donchev 2025).
//   D_i = x_i - y_i after H own steps from y_i = x_i; the mean of all D_i arrives one phase later
//   x_i = outer(x_i, w D_i + (mean of the phase before) - w (D_i of the phase before))
// As published w = 1 / n: own steps count at once, those of others a phase late. With w = 1 own
// steps stand in for those of all until these are there, which is what look-ahead does.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/ring_sum.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"

namespace dasgd::rivals {

template <typename Real>
class EagerWorker final : public Rival<Real> {
 public:
  EagerWorker(std::size_t self, const RivalSetup<Real>& setup)
      : n_(static_cast<double>(setup.workers())),
        lr_(setup.eta * n_),
        steps_(setup.count("H")),
        outer_lr_(setup.number("outer_lr")),
        momentum_(setup.number("outer_momentum")),
        weight_(setup.number("own") == 0 ? 1 / n_ : setup.number("own")),
        rule_(setup),
        x_(setup.start_of(self)),
        y_(x_),
        sum_(self, setup.workers()) {}

  void start(Port<Real>& port) override { port.compute(y_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    rule_.step(port, y_, lr_, gradient);
    if (++done_ < steps_) return port.compute(y_);
    waits_ = true;
    if (!travels_) end_phase(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (!sum_.received(port, letter)) return;
    arrived(port);
    if (waits_) end_phase(port);
  }
  std::span<const Real> model() const override { return y_; }
  std::size_t kept() const override {
    return size_of(x_, y_, own_, mean_, velocity_) + rule_.kept() + sum_.kept();
  }

 private:
  void arrived(Port<Real>& port) {
    travels_ = false;
    mean_.assign(sum_.sum().begin(), sum_.sum().end());
    scale<Real>(mean_, 1 / n_);
    port.charge(1);
  }
  // Both the own steps of this phase and the mean of the one before are there.
  void end_phase(Port<Real>& port) {
    waits_ = false;
    done_ = 0;
    velocity_.resize(x_.size());
    const bool first = mean_.empty();
    own_.resize(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double own = x_[i] - y_[i];
      const double D = weight_ * own + (first ? 0 : mean_[i] - weight_ * own_[i]);
      own_[i] = static_cast<Real>(own);
      velocity_[i] = momentum_ * velocity_[i] + D;
      x_[i] -= static_cast<Real>(outer_lr_ * (D + momentum_ * velocity_[i]));
    }
    port.charge(2);
    y_ = x_;
    travels_ = true;
    if (sum_.begin(port, own_)) arrived(port);
    port.compute(y_);
  }

  const double n_, lr_;
  const std::size_t steps_;
  const double outer_lr_, momentum_, weight_;
  RivalRule<Real> rule_;
  std::vector<Real> x_, y_;
  std::vector<Real> own_, mean_;  // D_i and the mean of the phase before
  std::vector<double> velocity_;
  RingSum<Real> sum_;
  std::size_t done_ = 0;
  bool travels_ = false;  // the mean is under way
  bool waits_ = false;    // for it
};

template <typename Real>
Participants<Real> make_eager(const RivalSetup<Real>& setup) {
  return one_per_node<EagerWorker>(setup);
}

}  // namespace dasgd::rivals
