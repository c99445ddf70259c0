// D-PSGD (Lian et al. 2017): every round each worker mixes its model with those of its neighbours.
//   x_i' = sum_j W_ij x_j - lr * g_i(x_i)       as published, the gradient meanwhile
//   x_i' = sum_j W_ij (x_j - lr * g_j(x_j))     adapt, then combine (atc = 1)
// lr = n * eta, so that a gradient weighs eta in the mean model.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/mixing.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

template <typename Real>
class GossipWorker final : public Rival<Real> {
 public:
  GossipWorker(std::size_t self, const RivalSetup<Real>& setup, MixingRow row, bool adapt_first)
      : self_(self),
        lr_(setup.eta * static_cast<double>(setup.workers())),
        row_(std::move(row)),
        adapt_first_(adapt_first),
        x_(setup.start_of(self)) {}

  void start(Port<Real>& port) override { begin_round(port); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    if (adapt_first_) {
      port.updating(x_, gradient);
      subtract<Real>(x_, lr_, gradient);
      port.charge(1);
      send_model(port);
    } else {
      gradient_.assign(gradient.begin(), gradient.end());
    }
    has_gradient_ = true;
    combine_when_all_are_here(port);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    models_of_[letter.from].push_back(letter.numbers);
    combine_when_all_are_here(port);
  }
  std::span<const Real> model() const override { return x_; }
  std::size_t kept() const override {
    std::size_t models = 1;
    for (const auto& [from, waiting] : models_of_) models += waiting.size();
    return models * size_of(x_) + size_of(gradient_);
  }

 private:
  void begin_round(Port<Real>& port) {
    has_gradient_ = false;
    if (!adapt_first_) send_model(port);
    port.compute(x_);
  }
  void send_model(Port<Real>& port) {
    const Shared<Real> model = share<Real>(x_);
    for (const std::size_t j : row_.who)
      if (j != self_) port.send(j, {model});
  }
  // A neighbour may be one round ahead: its models come in order.
  void combine_when_all_are_here(Port<Real>& port) {
    if (!has_gradient_) return;
    for (const std::size_t j : row_.who)
      if (j != self_ && models_of_[j].empty()) return;
    std::vector<std::span<const Real>> models;
    for (const std::size_t j : row_.who)
      models.push_back(j == self_ ? std::span<const Real>(x_) : *models_of_[j].front());
    std::vector<Real> mixed = combine<Real>(row_, models);
    for (auto& [from, waiting] : models_of_)
      if (!waiting.empty()) waiting.pop_front();
    port.charge(static_cast<double>(row_.who.size() - 1));
    if (!adapt_first_) {
      port.updating(mixed, gradient_);
      subtract<Real>(mixed, lr_, gradient_);
      port.charge(1);
    }
    x_ = std::move(mixed);
    begin_round(port);
  }

  const std::size_t self_;
  const double lr_;
  const MixingRow row_;
  const bool adapt_first_;
  std::vector<Real> x_, gradient_;
  bool has_gradient_ = false;
  std::map<std::size_t, std::deque<Shared<Real>>> models_of_;
};

template <typename Real>
Participants<Real> make_d_psgd(const RivalSetup<Real>& setup) {
  require_two_way(setup.graph, "d-psgd");
  MixingMatrix matrix =
      setup.count("ccs") == 1 ? communication_coefficients(setup.graph) : metropolis(setup.graph);
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<GossipWorker<Real>>(i, setup, std::move(matrix[i]),
                                                       setup.count("atc") == 1));
  return all;
}

}  // namespace dasgd::rivals
