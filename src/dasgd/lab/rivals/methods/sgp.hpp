// Stochastic gradient push (Assran et al. 2019): models and weights are pushed along a directed
// graph that changes every round; the one-peer exponential graph.
//   z = x / w; x -= lr * g(z); send (x / 2, w / 2) to peer(k), keep the other half; add what
//   arrives
// SGP waits for the round's peer; OSGP (overlap = 1) adds whatever is here.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

/// How far the peer of round k is: 1, 2, 4, ... below n, and again.
inline std::size_t peer_distance(std::size_t round, std::size_t workers) {
  std::size_t distances = 0;
  while ((std::size_t{1} << distances) < workers) ++distances;
  return distances == 0 ? 0 : std::size_t{1} << (round % distances);
}

template <typename Real>
class PushWorker final : public Rival<Real> {
 public:
  PushWorker(std::size_t self, const RivalSetup<Real>& setup)
      : self_(self),
        n_(setup.workers()),
        lr_(setup.eta * static_cast<double>(n_)),
        overlaps_(setup.count("overlap") == 1),
        x_(setup.start_of(self)),
        z_(x_) {}

  void start(Port<Real>& port) override { port.compute(z_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    port.updating(x_, gradient);
    subtract<Real>(x_, lr_, gradient);
    port.charge(1);
    if (n_ == 1) return next(port);
    scale<Real>(x_, 0.5);
    w_ /= 2;
    port.send((self_ + peer_distance(round_, n_)) % n_, {share<Real>(x_), round_, 0, w_});
    pushed_ = true;
    take(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    waiting_.push_back(letter);
    if (!overlaps_ && pushed_) take(port);
  }
  std::span<const Real> model() const override { return z_; }
  std::size_t kept() const override { return size_of(x_, z_) + waiting_.size() * size_of(x_); }

  /// The weight that it holds, with what has arrived; what is under way is not in it.
  double mass() const {
    double sum = w_;
    for (const auto& letter : waiting_) sum += letter.weight;
    return sum;
  }

 private:
  // A peer that is ahead sends for later rounds.
  void take(Port<Real>& port) {
    bool complete = overlaps_;
    for (std::size_t k = 0; k < waiting_.size();) {
      if (!overlaps_ && waiting_[k].version != round_) {
        ++k;
        continue;
      }
      add<Real>(x_, 1, *waiting_[k].numbers);
      w_ += waiting_[k].weight;
      port.charge(1);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(k));
      complete = true;
    }
    if (complete) next(port);
  }
  void next(Port<Real>& port) {
    pushed_ = false;
    ++round_;
    z_ = x_;
    if (w_ != 1) scale<Real>(z_, 1 / w_);
    port.compute(z_);
  }

  const std::size_t self_, n_;
  const double lr_;
  const bool overlaps_;
  std::vector<Real> x_, z_;
  double w_ = 1;
  std::size_t round_ = 0;
  bool pushed_ = false;
  std::deque<RivalMessage<Real>> waiting_;
};

template <typename Real>
Participants<Real> make_sgp(const RivalSetup<Real>& setup) {
  return one_per_node<PushWorker>(setup);
}

}  // namespace dasgd::rivals
