// SWIFT (Bornstein et al. 2023): D-PSGD that never waits.
//   send x_i to the neighbours; g = g(x_i)
//   x_i = w_ii x_i + sum_j w_ij (the newest x_j here) - lr * g       averages every C steps
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/mixing.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

template <typename Real>
class SwiftWorker final : public Rival<Real> {
 public:
  SwiftWorker(std::size_t self, const RivalSetup<Real>& setup, MixingRow row)
      : self_(self),
        lr_(setup.eta * static_cast<double>(setup.workers())),
        row_(std::move(row)),
        every_(setup.count("C")),
        x_(setup.start_of(self)) {
    for (const std::size_t j : row_.who) newest_.push_back(share<Real>(setup.start_of(j)));
  }

  void start(Port<Real>& port) override { begin(port); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    if (averages()) mix(port);
    port.updating(x_, gradient);
    subtract<Real>(x_, lr_, gradient);
    port.charge(1);
    ++steps_;
    begin(port);
  }
  void received(Port<Real>&, const RivalMessage<Real>& letter) override {
    for (std::size_t k = 0; k < row_.who.size(); ++k)
      if (row_.who[k] == letter.from) newest_[k] = letter.numbers;
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override { return newest_.size() * size_of(x_); }  // its own is one

 private:
  bool averages() const { return (steps_ + 1) % every_ == 0; }
  void begin(Port<Real>& port) {
    if (averages()) {
      const Shared<Real> model = share<Real>(x_);
      for (const std::size_t j : row_.who)
        if (j != self_) port.send(j, {model});
    }
    port.compute(x_);
  }
  void mix(Port<Real>& port) {
    std::vector<std::span<const Real>> models;
    for (std::size_t k = 0; k < row_.who.size(); ++k)
      models.push_back(row_.who[k] == self_ ? std::span<const Real>(x_) : *newest_[k]);
    x_ = combine<Real>(row_, models);
    port.charge(static_cast<double>(row_.who.size() - 1));
  }

  const std::size_t self_;
  const double lr_;
  const MixingRow row_;
  const std::size_t every_;
  std::vector<Real> x_;
  std::vector<Shared<Real>> newest_;  // of each of row_.who
  std::size_t steps_ = 0;
};

template <typename Real>
Participants<Real> make_swift(const RivalSetup<Real>& setup) {
  require_two_way(setup.graph, "swift");
  MixingMatrix matrix = communication_coefficients(setup.graph);
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<SwiftWorker<Real>>(i, setup, std::move(matrix[i])));
  return all;
}

}  // namespace dasgd::rivals
