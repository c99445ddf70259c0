// An algorithm of one's own against DASGD and minibatch SGD, in virtual time: a token with the
// model goes round a ring, and whoever has it adds what it has computed since it had it last.
#include <cstdio>
#include <memory>
#include <vector>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/rivals/methods/all_rivals.hpp"
#include "dasgd/rivals/play.hpp"
#include "dasgd/rivals/vectors.hpp"

namespace {

template <typename Real>
class TokenWorker final : public dasgd::Rival<Real> {
 public:
  TokenWorker(std::size_t self, const dasgd::RivalSetup<Real>& setup)
      : next_((self + 1) % setup.workers()),
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
  void received(dasgd::Port<Real>&, const dasgd::Letter<Real>& token) override {
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
    has_token_ = false;
    port.send(next_, {dasgd::share<Real>(x_)});
  }

  const std::size_t next_;
  bool has_token_;
  const double eta_;
  std::vector<Real> x_, sum_;
};

dasgd::Participants<double> make_token(const dasgd::RivalSetup<double>& setup) {
  dasgd::Participants<double> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<TokenWorker<double>>(i, setup));
  return all;
}

}  // namespace

int main() {
  const auto problem = dasgd::Quadratic::random(1);
  std::vector<dasgd::RivalKind> kinds = dasgd::all_rivals();
  kinds.push_back({.name = "token", .summary = "a token goes round", .make_double = make_token});
  const dasgd::TrainOptions options{.workers = 4, .eta = 0.02, .total_gradients = 400};
  for (const char* name : {"token", "asgd", "minibatch"}) {
    double loss = 0;
    const dasgd::Observer<double> observer{100'000'000, [&](const dasgd::Instant<double>& now) {
                                             loss = problem.loss(now.models[0]);
                                             return false;
                                           }};
    const auto result = dasgd::play<double>(problem, dasgd::choose_rival(name, kinds), options, {},
                                            {.measured_S = 400}, &observer);
    std::printf("%-10s %4llu gradients in %.2f s, S_avg %.2f, loss above its least %.1e\n", name,
                static_cast<unsigned long long>(result.gradients), result.seconds,
                result.S_avg.value_or(0), loss - *problem.known().least_loss);
  }
}
