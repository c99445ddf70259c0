// Elastic averaging SGD (Zhang et al. 2015): workers are tied to a centre by a spring.
//   every tau steps: e = alpha (x_i - c); x_i -= e; c += e;   between: x_i -= lr * g(x_i)
// The centre is the answer. lr = n * eta.
#pragma once

#include <memory>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

template <typename Real>
class ElasticWorker final : public Rival<Real> {
 public:
  ElasticWorker(std::size_t self, const RivalSetup<Real>& setup)
      : centre_(setup.workers()),
        lr_(setup.eta * static_cast<double>(setup.workers())),
        period_(setup.count("tau")),
        rule_(setup),
        x_(setup.start_of(self)) {}

  void start(Port<Real>& port) override { port.compute(x_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    rule_.step(port, x_, lr_, gradient);
    if (++steps_ % period_ == 0)
      port.send(centre_, {share<Real>(x_)});
    else
      port.compute(x_);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    subtract<Real>(x_, 1, *letter.numbers);
    port.charge(1);
    port.compute(x_);
  }
  std::span<const Real> model() const override { return {}; }
  std::size_t kept() const override { return size_of(x_) + rule_.kept(); }

  const std::vector<Real>& own() const { return x_; }

 private:
  const std::size_t centre_;
  const double lr_;
  const std::size_t period_;
  RivalRule<Real> rule_;
  std::vector<Real> x_;
  std::size_t steps_ = 0;
};

template <typename Real>
class ElasticCentre final : public Rival<Real> {
 public:
  ElasticCentre(std::vector<Real> centre, double alpha) : c_(std::move(centre)), alpha_(alpha) {}

  void start(Port<Real>&) override {}
  void computed(Port<Real>&, std::span<const Real>, double) override {}
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    std::vector<Real> e(*letter.numbers);
    subtract<Real>(e, 1, c_);
    scale<Real>(e, alpha_);
    add<Real>(c_, 1, e);
    port.charge(2);
    port.send(letter.from, {share<Real>(e)});
  }
  std::span<const Real> model() const override { return c_; }

 private:
  std::vector<Real> c_;
  const double alpha_;
};

template <typename Real>
Participants<Real> make_easgd(const RivalSetup<Real>& setup) {
  const double n = static_cast<double>(setup.workers());
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<ElasticWorker<Real>>(i, setup));
  all.push_back(std::make_unique<ElasticCentre<Real>>(setup.start_of(0), setup.number("beta") / n));
  return all;
}

}  // namespace dasgd::rivals
