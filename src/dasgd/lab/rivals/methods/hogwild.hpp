// Hogwild (Recht et al. 2011): workers share one array and add to it without a lock.
//   each: y = x; g = g(y); x -= eta * g, coordinate by coordinate; an update may be lost
// A store returns what was there: something else than was read just before is lost, and counted.
// On real threads it is what it is; in virtual time nobody is interrupted, so that it is server
// ASGD without latency.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"

namespace dasgd::rivals {

/// Relaxed loads and stores: of what two add at once, one is lost.
template <typename Real>
class SharedModel {
 public:
  explicit SharedModel(const std::vector<Real>& x) : numbers_(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) numbers_[i].store(x[i], std::memory_order_relaxed);
  }
  void read(std::vector<Real>& to) const {
    to.resize(numbers_.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = numbers_[i].load(std::memory_order_relaxed);
  }
  /// Returns how many numbers were overwritten that others had changed meanwhile.
  std::uint64_t subtract(double eta, std::span<const Real> g) {
    const Real step = static_cast<Real>(eta);
    std::uint64_t overwritten = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const Real read = numbers_[i].load(std::memory_order_relaxed);
      if (numbers_[i].exchange(read - step * g[i], std::memory_order_relaxed) != read)
        ++overwritten;
    }
    return overwritten;
  }

 private:
  std::vector<std::atomic<Real>> numbers_;
};

template <typename Real>
class HogwildWorker final : public Rival<Real> {
 public:
  /// One of them answers for the model that they share.
  HogwildWorker(double eta, std::shared_ptr<SharedModel<Real>> x, bool answers)
      : eta_(eta), answers_(answers), x_(std::move(x)) {}

  void start(Port<Real>& port) override { begin(port); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    x_->read(y_);
    port.updating(y_, gradient);
    port.overwrite(x_->subtract(eta_, gradient));
    port.charge(1);
    begin(port);
  }
  void received(Port<Real>&, const RivalMessage<Real>&) override {}
  std::span<const Real> model() const override {
    if (answers_) x_->read(seen_);
    return seen_;
  }
  std::size_t kept() const override { return size_of(y_) * (answers_ ? 2 : 1); }

 private:
  void begin(Port<Real>& port) {
    x_->read(y_);
    port.compute(y_);
  }

  const double eta_;
  const bool answers_;
  const std::shared_ptr<SharedModel<Real>> x_;
  std::vector<Real> y_;
  mutable std::vector<Real> seen_;
};

template <typename Real>
Participants<Real> make_hogwild(const RivalSetup<Real>& setup) {
  const auto x = std::make_shared<SharedModel<Real>>(setup.start_of(0));
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<HogwildWorker<Real>>(setup.eta, x, i == 0));
  return all;
}

}  // namespace dasgd::rivals
