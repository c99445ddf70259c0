// SparseLoCo (Sarfi, Therien, Lidin and Belilovsky 2025, arXiv 2508.15706).
//   each: y_i = x; H times y_i -= inner(g(y_i)); e_i = decay e_i + x - y_i
//   q_i = few bits of the largest numbers of every chunk of e_i; e_i -= q_i; all q_i to everybody
//   x -= outer_lr * mean of the q_i
// By default: AdamW, H = 30, 64 numbers of 4,096, 2 bits each, decay 0.95, outer_lr 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/methods/local_sgd.hpp"
#include "dasgd/lab/rivals/ring_gather.hpp"

namespace dasgd::rivals {

/// Few numbers in few bits; what is not sent stays, decays, and goes into the next.
template <typename Real>
class SparseFeedback {
 public:
  static constexpr std::size_t chunk = 4096, index_bits = 12;

  SparseFeedback(double share, int bits, double decay, std::size_t dimension)
      : share_(share), bits_(bits), decay_(decay), residual_(dimension) {}

  /// What of the residual and of D is sent; 0 where nothing is.
  std::vector<Real> compress(std::span<const Real> D) {
    for (std::size_t i = 0; i < D.size(); ++i)
      residual_[i] = static_cast<Real>(decay_ * residual_[i] + D[i]);
    chosen_.clear();
    for (std::size_t first = 0; first < D.size(); first += chunk)
      choose(first, std::min(chunk, D.size() - first));
    std::vector<Real> sent(D.size());
    for (const std::size_t i : chosen_) sent[i] = residual_[i];
    if (bits_ > 0) round(sent);
    for (const std::size_t i : chosen_) residual_[i] -= sent[i];
    return sent;
  }
  /// Of the bytes of full numbers: those sent and where they are. The table of values is header.
  double wire_share() const {
    const double full = 8 * sizeof(Real), all = static_cast<double>(residual_.size());
    const auto count = static_cast<double>(chosen_.size());
    return count / all * ((bits_ > 0 ? bits_ : full) + (count < all ? index_bits : 0)) / full;
  }
  std::span<const Real> residual() const { return residual_; }

 private:
  // The largest of a chunk; of equal ones the first.
  void choose(std::size_t first, std::size_t count) {
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), first);
    const auto kept = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::lround(share_ * static_cast<double>(count))), 1, count);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(order_.begin(), end - 1, order_.end(), [this](std::size_t a, std::size_t b) {
      const Real x = std::abs(residual_[a]), y = std::abs(residual_[b]);
      return x != y ? x > y : a < b;
    });
    std::sort(order_.begin(), end);
    chosen_.insert(chosen_.end(), order_.begin(), end);
  }
  // To 2^bits values: the means of bins that reach three standard deviations either way.
  void round(std::vector<Real>& sent) const {
    const auto bins = std::size_t{1} << bits_;
    const auto count = static_cast<double>(chosen_.size());
    double mean = 0, square = 0;
    for (const std::size_t i : chosen_) mean += sent[i] / count;
    for (const std::size_t i : chosen_) square += (sent[i] - mean) * (sent[i] - mean) / count;
    const double width = 6 * std::sqrt(square) / static_cast<double>(bins);
    if (!(width > 0)) return;  // all are equal
    const auto bin_of = [&](Real value) {
      const double bin = std::floor((value - mean) / width) + static_cast<double>(bins) / 2;
      return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(bins - 1)));
    };
    std::vector<double> sums(bins), counts(bins);
    for (const std::size_t i : chosen_) sums[bin_of(sent[i])] += sent[i];
    for (const std::size_t i : chosen_) ++counts[bin_of(sent[i])];
    for (const std::size_t i : chosen_) {
      const std::size_t bin = bin_of(sent[i]);
      sent[i] = static_cast<Real>(sums[bin] / counts[bin]);
    }
  }

  const double share_;
  const int bits_;
  const double decay_;
  std::vector<Real> residual_;
  std::vector<std::size_t> order_, chosen_;
};

template <typename Real>
class SparseLoCoWorker final : public Rival<Real> {
 public:
  SparseLoCoWorker(std::size_t self, const RivalSetup<Real>& setup, bool adam)
      : steps_(setup.count("H")),
        weight_(setup.number("outer_lr") / static_cast<double>(setup.workers())),
        x_(setup.start_of(self)),
        y_(x_),
        own_(setup, adam),
        feedback_(setup.number("share"), static_cast<int>(setup.count("bits")),
                  setup.number("decay"), x_.size()),
        gather_(self, setup.workers()) {}

  void start(Port<Real>& port) override { port.compute(y_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    own_.step(port, y_, gradient);
    if (++done_ < steps_) return port.compute(y_);
    std::vector<Real> D(x_.size());
    for (std::size_t i = 0; i < D.size(); ++i) D[i] = x_[i] - y_[i];
    auto sent = std::make_shared<const std::vector<Real>>(feedback_.compress(D));
    port.charge(3);
    if (gather_.begin(port, {.numbers = sent, .share = feedback_.wire_share()})) take_mean(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (gather_.received(port, letter)) take_mean(port);
  }
  std::span<const Real> model() const override { return y_; }
  std::span<const Real> common() const override { return x_; }
  std::size_t kept() const override {
    return size_of(x_, y_, feedback_.residual()) + own_.kept() + gather_.kept();
  }
  const SparseFeedback<Real>& feedback() const { return feedback_; }

 private:
  void take_mean(Port<Real>& port) {
    subtract<Real>(x_, weight_, gather_.sum());
    port.charge(1);
    y_ = x_;
    done_ = 0;
    port.compute(y_);
  }

  const std::size_t steps_;
  const double weight_;  // of one worker's numbers
  std::vector<Real> x_, y_;
  OwnSteps<Real> own_;
  SparseFeedback<Real> feedback_;
  RingGather<Real> gather_;
  std::size_t done_ = 0;
};

template <typename Real>
Participants<Real> make_sparse_loco(const RivalSetup<Real>& setup, bool adam) {
  return one_per_node<SparseLoCoWorker>(setup, adam);
}

}  // namespace dasgd::rivals
