// Synchronous SGD: x -= eta * sum of one gradient of every worker.
//   round: all: g_i = g(x); wait for the first m of n; x -= eta * sum; late ones are dropped
// With another rule than plain steps: x -= n eta * direction(mean of the gradients).
// With all of them (backup = 0) by ring all-reduce; a ring cannot drop anybody, so that with backup
// workers (Chen et al. 2016; m-synchronous SGD) a server collects the first m = n - backup.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/ring_sum.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"

namespace dasgd::rivals {

template <typename Real>
class MinibatchWorker final : public Rival<Real> {
 public:
  MinibatchWorker(std::size_t self, const RivalSetup<Real>& setup)
      : eta_(setup.eta),
        rule_(setup),
        n_(static_cast<double>(setup.workers())),
        x_(setup.start_of(self)),
        sum_(self, setup.workers()) {}

  void start(Port<Real>& port) override { port.compute(x_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    if (sum_.begin(port, gradient)) step(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (sum_.received(port, letter)) step(port);
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override { return size_of(x_) + rule_.kept() + sum_.kept(); }

 private:
  void step(Port<Real>& port) {
    rule_.step(port, x_, eta_, sum_.sum(), n_);
    port.compute(x_);
  }

  const double eta_;
  RivalRule<Real> rule_;
  const double n_;
  std::vector<Real> x_;
  RingSum<Real> sum_;
};

/// A worker that may come too late.
template <typename Real>
class BackedUpWorker final : public Rival<Real> {
 public:
  BackedUpWorker(std::size_t server, std::vector<Real> x) : server_(server), x_(std::move(x)) {}

  void start(Port<Real>& port) override { begin(port); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    computing_ = false;
    port.send(server_, {share(gradient), round_});
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (computing_) port.cancel();
    x_ = *letter.numbers;
    round_ = letter.version;
    begin(port);
  }
  std::span<const Real> model() const override { return {}; }
  std::size_t kept() const override { return size_of(x_); }

 private:
  void begin(Port<Real>& port) {
    computing_ = true;
    port.compute(x_);
  }

  const std::size_t server_;
  std::vector<Real> x_;
  std::uint64_t round_ = 0;
  bool computing_ = false;
};

template <typename Real>
class FirstOfManyServer final : public Rival<Real> {
 public:
  FirstOfManyServer(const RivalSetup<Real>& setup, std::size_t wanted)
      : eta_(setup.eta),
        rule_(setup),
        workers_(setup.workers()),
        wanted_(wanted),
        x_(setup.start_of(0)) {}

  void start(Port<Real>&) override {}
  void computed(Port<Real>&, std::span<const Real>, double) override {}
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (letter.version != round_) return port.discard(1);
    if (count_++ == 0) {
      sum_ = *letter.numbers;
    } else {
      add<Real>(sum_, 1, *letter.numbers);
      port.charge(1);
    }
    if (count_ < wanted_) return;
    rule_.step(port, x_, eta_, sum_, static_cast<double>(wanted_));
    count_ = 0;
    ++round_;
    const Shared<Real> model = share<Real>(x_);
    for (std::size_t i = 0; i < workers_; ++i) port.send(i, {model, round_});
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override { return size_of(x_, sum_) + rule_.kept(); }

 private:
  const double eta_;
  RivalRule<Real> rule_;
  const std::size_t workers_, wanted_;
  std::vector<Real> x_, sum_;
  std::size_t count_ = 0;
  std::uint64_t round_ = 0;
};

template <typename Real>
Participants<Real> make_minibatch(const RivalSetup<Real>& setup) {
  const std::size_t n = setup.workers(), backup = std::min(setup.count("backup"), n - 1);
  Participants<Real> all;
  for (std::size_t i = 0; i < n; ++i)
    if (backup == 0)
      all.push_back(std::make_unique<MinibatchWorker<Real>>(i, setup));
    else
      all.push_back(std::make_unique<BackedUpWorker<Real>>(n, setup.start_of(i)));
  if (backup > 0) all.push_back(std::make_unique<FirstOfManyServer<Real>>(setup, n - backup));
  return all;
}

}  // namespace dasgd::rivals
