// An algorithm of one's own: a token with the model goes round a ring, and whoever has it adds what
// it has computed since it had it last.
#pragma once

#include <memory>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

template <typename Real>
class TokenWorker final : public dasgd::Rival<Real> {
 public:
  TokenWorker(std::size_t self, const dasgd::RivalSetup<Real>& setup)
      : self_(self),
        next_((self + 1) % setup.workers()),
        has_token_(self == 0),
        eta_(setup.eta),
        x_(setup.start_of(self)),
        sum_(x_.size()) {}

  void start(dasgd::Port<Real>& port) override { port.compute(x_); }
  void computed(dasgd::Port<Real>& port, std::span<const Real> gradient, double) override {
    dasgd::add<Real>(sum_, 1, gradient);
    if (has_token_) pass_on(port);
    port.compute(x_);
  }
  void received(dasgd::Port<Real>&, const dasgd::RivalMessage<Real>& token) override {
    x_ = *token.numbers;
    has_token_ = true;  // until its next gradient
  }
  std::span<const Real> model() const override { return x_; }

 private:
  void pass_on(dasgd::Port<Real>& port) {
    port.updating(x_, sum_);
    dasgd::subtract<Real>(x_, eta_, sum_);
    port.charge(1);
    sum_.assign(x_.size(), Real{0});
    if (next_ == self_) return;  // alone
    has_token_ = false;
    port.send(next_, {dasgd::share<Real>(x_)});
  }

  const std::size_t self_, next_;
  bool has_token_;
  const double eta_;
  std::vector<Real> x_, sum_;
};

template <typename Real>
dasgd::Participants<Real> make_token(const dasgd::RivalSetup<Real>& setup) {
  dasgd::Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<TokenWorker<Real>>(i, setup));
  return all;
}
