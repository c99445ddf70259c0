// AD-PSGD (Lian et al. 2018): workers average in pairs while they compute.
//   compute: read y = x_i; g = g(y); buffer += g
//   exchange (active): pick a random passive j; both x = (x_i + x_j) / 2; then x_i -= lr * buffer
//   passive: answers, one at a time; its own gradients change its model at once
// An exchange for every gradient of an active worker. Active and passive are the two sides of a
// bipartite graph, which keeps everybody from waiting in a circle.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

/// The sides of a spanning tree (from worker 0, depth first, which on the full graph makes them
/// even and odd workers), and the links between them.
struct PairingSides {
  std::vector<bool> active;
  std::vector<std::vector<std::size_t>> partners;  ///< of each worker, on the other side
  std::size_t dropped = 0;                         ///< links within a side
};
PairingSides two_sides(const Graph& graph);
/// What a person should know: which links are not used.
std::string describe_sides(const Graph& graph);

template <typename Real>
class PairingWorker final : public Rival<Real> {
 public:
  PairingWorker(std::size_t self, const RivalSetup<Real>& setup, bool active,
                std::vector<std::size_t> partners)
      : lr_(setup.eta * static_cast<double>(setup.workers())),
        active_(active && !partners.empty()),
        partners_(std::move(partners)),
        x_(setup.start_of(self)) {}

  void start(Port<Real>& port) override { port.compute(x_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    if (!active_) {
      apply(port, gradient);
    } else {
      if (buffer_.empty())
        buffer_.assign(gradient.begin(), gradient.end());
      else
        add<Real>(buffer_, 1, gradient);
      if (!exchanging_) begin_exchange(port);
    }
    port.compute(x_);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    port.charge(1);
    if (active_) return end_exchange(port, *letter.numbers);
    scale<Real>(x_, 0.5);
    add<Real>(x_, 0.5, *letter.numbers);
    port.send(letter.from, {share<Real>(x_)});
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override { return size_of(x_, buffer_); }
  /// Its model has gone out and has not come back: it must not change.
  bool exchanging() const { return exchanging_; }

 private:
  void begin_exchange(Port<Real>& port) {
    exchanging_ = true;
    const auto k = port.random().below(static_cast<std::uint32_t>(partners_.size()));
    port.send(partners_[k], {share<Real>(x_)});
  }
  void end_exchange(Port<Real>& port, const std::vector<Real>& average) {
    exchanging_ = false;
    x_ = average;
    apply(port, std::exchange(buffer_, {}));
  }
  void apply(Port<Real>& port, std::span<const Real> gradients) {
    port.updating(x_, gradients);
    subtract<Real>(x_, lr_, gradients);
    port.charge(1);
  }

  const double lr_;
  const bool active_;
  const std::vector<std::size_t> partners_;
  std::vector<Real> x_, buffer_;
  bool exchanging_ = false;
};

template <typename Real>
Participants<Real> make_ad_psgd(const RivalSetup<Real>& setup) {
  PairingSides sides = two_sides(setup.graph);
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<PairingWorker<Real>>(i, setup, sides.active[i],
                                                        std::move(sides.partners[i])));
  return all;
}

}  // namespace dasgd::rivals
