// Local SGD (Stich 2019), post-local SGD (Lin et al. 2020) and DiLoCo (Douillard et al. 2023).
//   each: y_i = x; H times y_i -= inner(g(y_i)); D = x - mean of the y_i (all-reduce); x = outer(D)
//   post-local: H = 1 until step T0, then H
// Inner SGD with lr = n * eta, so that a gradient weighs eta in the mean model; or another rule, or
// AdamW, with that lr. Outer: x = the mean, or Nesterov's momentum on D.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/ring_sum.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"

namespace dasgd::rivals {

struct LocalPlan {
  std::size_t steps = 8;           ///< H
  std::size_t together_until = 0;  ///< T0
  double outer_lr = 1, momentum = 0;
  bool adam = false;
};

/// AdamW (Loshchilov and Hutter 2019) with the usual constants.
template <typename Real>
class AdamW {
 public:
  void step(std::span<Real> y, double lr, std::span<const Real> g) {
    constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0.01;
    m_.resize(y.size());
    v_.resize(y.size());
    ++steps_;
    const double unbias1 = 1 - std::pow(beta1, steps_), unbias2 = 1 - std::pow(beta2, steps_);
    for (std::size_t i = 0; i < y.size(); ++i) {
      m_[i] = beta1 * m_[i] + (1 - beta1) * g[i];
      v_[i] = beta2 * v_[i] + (1 - beta2) * g[i] * g[i];
      const double direction = m_[i] / unbias1 / (std::sqrt(v_[i] / unbias2) + epsilon);
      y[i] -= static_cast<Real>(lr * (direction + decay * y[i]));
    }
  }
  std::size_t kept() const { return size_of(m_, v_); }

 private:
  std::vector<double> m_, v_;
  int steps_ = 0;
};

/// The steps between two means: AdamW, or the rule of the setup.
template <typename Real>
class OwnSteps {
 public:
  OwnSteps(const RivalSetup<Real>& setup, bool adam)
      : lr_(setup.eta * static_cast<double>(setup.workers())), uses_adam_(adam), rule_(setup) {}

  void step(Port<Real>& port, std::span<Real> y, std::span<const Real> gradient) {
    if (!uses_adam_) return rule_.step(port, y, lr_, gradient);
    adam_.step(y, lr_, gradient);
    port.charge(3);
  }
  std::size_t kept() const { return adam_.kept() + rule_.kept(); }

 private:
  const double lr_;
  const bool uses_adam_;
  AdamW<Real> adam_;
  RivalRule<Real> rule_;
};

template <typename Real>
class LocalWorker final : public Rival<Real> {
 public:
  LocalWorker(std::size_t self, const RivalSetup<Real>& setup, const LocalPlan& plan)
      : workers_(static_cast<double>(setup.workers())),
        plan_(plan),
        x_(setup.start_of(self)),
        y_(x_),
        own_(setup, plan.adam),
        sum_(self, setup.workers()) {}

  void start(Port<Real>& port) override { port.compute(y_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    own_.step(port, y_, gradient);
    ++total_;
    const std::size_t wanted = total_ <= plan_.together_until ? 1 : plan_.steps;
    if (++done_ < wanted) return port.compute(y_);
    if (sum_.begin(port, y_)) take_mean(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (sum_.received(port, letter)) take_mean(port);
  }
  std::span<const Real> model() const override { return y_; }
  std::span<const Real> common() const override { return x_; }
  std::size_t kept() const override {
    return size_of(x_, y_, velocity_) + own_.kept() + sum_.kept();
  }

 private:
  void take_mean(Port<Real>& port) {
    const std::span<Real> mean = sum_.sum();
    if (workers_ > 1) scale<Real>(mean, 1 / workers_);
    if (plan_.outer_lr == 1 && plan_.momentum == 0) {
      x_.assign(mean.begin(), mean.end());
    } else {
      velocity_.resize(x_.size());
      for (std::size_t i = 0; i < x_.size(); ++i) {
        const double D = x_[i] - mean[i];
        velocity_[i] = plan_.momentum * velocity_[i] + D;
        x_[i] -= static_cast<Real>(plan_.outer_lr * (D + plan_.momentum * velocity_[i]));
      }
    }
    port.charge(1);
    y_ = x_;
    done_ = 0;
    port.compute(y_);
  }

  const double workers_;
  const LocalPlan plan_;
  std::vector<Real> x_, y_;
  std::vector<double> velocity_;
  OwnSteps<Real> own_;
  RingSum<Real> sum_;
  std::size_t done_ = 0, total_ = 0;
};

template <typename Real>
Participants<Real> make_local(const RivalSetup<Real>& setup, const LocalPlan& plan) {
  return one_per_node<LocalWorker>(setup, plan);
}

}  // namespace dasgd::rivals
