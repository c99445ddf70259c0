// An objective whose gradients last as long as the clocks of a world say.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/rivals/participant_slot.hpp"

namespace dasgd {

/// The k-th gradient of a worker takes its k-th time, by sleeping for what is left of it; all else
/// is the inner objective's. Everything must outlive this.
template <typename Real>
class Clocked final : public Objective<Real> {
 public:
  Clocked(const Objective<Real>& inner, const TrainOptions& options, const VirtualWorld& world)
      : inner_(inner), options_(options), world_(world) {}

  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  std::vector<std::uint32_t> labels() const override { return inner_.labels(); }
  std::vector<Real> start() const override { return inner_.start(); }
  double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const override {
    return inner_.gradient(x, rows, gradient);
  }
  double full_gradient(std::span<const Real> x, std::span<Real> gradient) const override {
    return inner_.full_gradient(x, gradient);
  }
  double loss(std::span<const Real> x) const override { return inner_.loss(x); }
  HeldOut evaluate(std::span<const Real> x) const override { return inner_.evaluate(x); }
  KnownConstants known() const override { return inner_.known(); }
  std::unique_ptr<Oracle<Real>> make_oracle(WorkerId worker) const override {
    return std::make_unique<Timed>(*this, worker);
  }

 private:
  struct Timed final : Oracle<Real> {
    Timed(const Clocked& all, WorkerId worker)
        : times(all.world_, all.options_, worker), inner(all.inner_.make_oracle(worker)) {}
    double gradient(ComputePoint<Real>& point, const Batch& batch, std::span<Real> g) override {
      const auto began = std::chrono::steady_clock::now();
      const double loss = inner->gradient(point, batch, g);
      std::this_thread::sleep_until(began + std::chrono::nanoseconds(times.next()));
      return loss;
    }
    std::unique_ptr<Replica<Real>> make_replica(std::span<const Real> x0) override {
      return inner->make_replica(x0);
    }
    ComputeTimes times;
    const std::unique_ptr<Oracle<Real>> inner;
  };

  const Objective<Real>& inner_;
  const TrainOptions& options_;
  const VirtualWorld& world_;
};

}  // namespace dasgd
