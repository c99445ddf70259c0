// The server family: asynchronous SGD whose server decides what a late gradient is worth.
//   worker i: on (x, k0): y = x; H times: y -= lr * g(y); send (u = sum of the gradients, k0)
//   server, on (i, u, k0): tau = k - k0; w = worth(tau)
//     if w > 0: sum += w * u; c += 1
//     if c == B: x -= eta * sum; k += 1; sum = 0; c = 0
//     send (x, k) to i
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

constexpr auto unlimited = std::size_t(-1);

/// What makes one server another.
struct ServerPolicy {
  std::function<double(std::uint64_t tau)> worth = [](std::uint64_t) { return 1.0; };
  std::size_t batch = 1;        ///< B: gradients that make an update
  std::size_t local_steps = 1;  ///< H
  double local_lr = 0;          ///< of those
  double momentum = 0;          ///< of the server's steps
  /// Stale-synchronous: a worker that is more than so many gradients ahead of the slowest waits.
  std::size_t most_ahead = unlimited;
  /// A worker whose gradient would be this late is asked to begin again at the newest model.
  std::uint64_t stops_at = unlimited;
};

template <typename Real>
class ServedWorker final : public Rival<Real> {
 public:
  ServedWorker(std::size_t server, std::vector<Real> x, const ServerPolicy& policy)
      : server_(server), steps_(policy.local_steps), lr_(policy.local_lr), y_(std::move(x)) {}

  void start(Port<Real>& port) override { begin(port); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    if (steps_ == 1) return deliver(port, share(gradient));
    if (++done_ == 1)
      sum_.assign(gradient.begin(), gradient.end());
    else
      add<Real>(sum_, 1, gradient);
    port.charge(2);
    if (done_ == steps_) return deliver(port, share<Real>(sum_));
    subtract<Real>(y_, lr_, gradient);
    port.compute(y_);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (computing_) port.cancel();
    y_ = *letter.numbers;
    version_ = letter.version;
    begin(port);
  }
  std::span<const Real> model() const override { return {}; }
  std::size_t kept() const override { return size_of(y_, sum_); }

 private:
  void begin(Port<Real>& port) {
    done_ = 0;
    computing_ = true;
    port.compute(y_);
  }
  void deliver(Port<Real>& port, Shared<Real> update) {
    computing_ = false;
    port.send(server_, {std::move(update), version_});
  }

  const std::size_t server_, steps_;
  const double lr_;
  std::vector<Real> y_, sum_;
  std::uint64_t version_ = 0;
  std::size_t done_ = 0;
  bool computing_ = false;
};

template <typename Real>
class ParameterServer final : public Rival<Real> {
 public:
  ParameterServer(const RivalSetup<Real>& setup, ServerPolicy policy)
      : eta_(setup.eta),
        policy_(std::move(policy)),
        rule_(setup),
        x_(setup.start_of(0)),
        sent_(setup.workers(), 0),
        clock_(setup.workers(), 0),
        waits_(setup.workers(), false) {}

  void start(Port<Real>&) override {}
  void computed(Port<Real>&, std::span<const Real>, double) override {}
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    const std::size_t i = letter.from;
    const std::uint64_t tau = version_ - letter.version;
    // It was asked to begin again while this was in flight.
    if (letter.version < sent_[i]) return port.discard(policy_.local_steps);
    delays_ += tau;
    const double worth = policy_.worth(tau);
    const bool counts = worth > 0;
    if (counts) take(port, worth, *letter.numbers);
    if (!counts) port.discard(policy_.local_steps);
    ++clock_[i];
    waits_[i] = true;
    if (policy_.most_ahead == unlimited)
      send_model(port, i);
    else
      reply_to_all_near_the_slowest(port);
    if (counts && count_ == 0 && policy_.stops_at != unlimited) stop_the_late(port);
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override {
    return size_of(x_, sum_, velocity_) + rule_.kept() + (newest_ ? size_of(*newest_) : 0);
  }

  std::uint64_t updates() const { return version_; }
  /// The sum of tau over everything that has arrived or was stopped.
  std::uint64_t delays() const { return delays_; }
  /// By how many updates the newest model of a worker is behind.
  std::uint64_t delay_of(std::size_t worker) const { return version_ - sent_[worker]; }

 private:
  void take(Port<Real>& port, double worth, const std::vector<Real>& update) {
    if (policy_.batch == 1 && worth == 1 && policy_.momentum == 0) return step(port, update);
    if (count_++ == 0) sum_.assign(update.size(), Real{0});
    add<Real>(sum_, worth, update);
    port.charge(1);
    if (count_ < policy_.batch) return;
    count_ = 0;
    if (policy_.momentum == 0) return step(port, sum_);
    // Its weights over time sum up to 1, so that eta stays the weight of a gradient.
    velocity_.resize(x_.size());
    scale<Real>(velocity_, policy_.momentum);
    add<Real>(velocity_, 1 - policy_.momentum, sum_);
    port.charge(1);
    port.updating(x_, sum_);
    subtract<Real>(x_, eta_, velocity_);
    port.charge(1);
    count_update();
  }
  void step(Port<Real>& port, const std::vector<Real>& update) {
    rule_.step(port, x_, eta_, update);
    count_update();
  }
  void count_update() {
    ++version_;
    newest_.reset();
  }
  void reply_to_all_near_the_slowest(Port<Real>& port) {
    const std::uint64_t slowest = *std::min_element(clock_.begin(), clock_.end());
    for (std::size_t i = 0; i < waits_.size(); ++i)
      if (waits_[i] && clock_[i] - slowest <= policy_.most_ahead) send_model(port, i);
  }
  void stop_the_late(Port<Real>& port) {
    for (std::size_t i = 0; i < waits_.size(); ++i)
      if (!waits_[i] && delay_of(i) >= policy_.stops_at) {
        delays_ += delay_of(i);
        send_model(port, i);
      }
  }
  void send_model(Port<Real>& port, std::size_t i) {
    if (!newest_) newest_ = share<Real>(x_);
    waits_[i] = false;
    sent_[i] = version_;
    port.send(i, {newest_, version_});
  }

  const double eta_;
  const ServerPolicy policy_;
  RivalRule<Real> rule_;
  std::vector<Real> x_, sum_, velocity_;
  Shared<Real> newest_;
  std::size_t count_ = 0;
  std::uint64_t version_ = 0, delays_ = 0;
  std::vector<std::uint64_t> sent_;   // to each worker, the version
  std::vector<std::uint64_t> clock_;  // of each worker: what has come from it
  std::vector<bool> waits_;           // for a reply
};

/// Workers and their server, which is the last participant.
template <typename Real>
Participants<Real> make_served(const RivalSetup<Real>& setup, const ServerPolicy& policy) {
  const std::size_t n = setup.workers();
  Participants<Real> all;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back(std::make_unique<ServedWorker<Real>>(n, setup.start_of(i), policy));
  all.push_back(std::make_unique<ParameterServer<Real>>(setup, policy));
  return all;
}

}  // namespace dasgd::rivals
