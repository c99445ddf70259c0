// An objective whose replicas differ, as with bad memory.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "dasgd/core/compute_point.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/core/oracle.hpp"
#include "dasgd/core/replica.hpp"

namespace dasgd::test {

/// Loses all updates of other workers.
struct Deaf final : HostReplica<double> {
  using HostReplica::HostReplica;
  void apply(std::span<const GradientPtr>) override {}
  void apply(const Bundle&) override {}
};

/// f(x) = |x - 1|^2 / 2. The replica of one worker, or of none, is not what it should be.
class BadMemory final : public Objective<double> {
 public:
  explicit BadMemory(std::optional<WorkerId> deaf) : deaf_(deaf) {}
  std::size_t dimension() const override { return 3; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    for (std::size_t k = 0; k < g.size(); ++k) g[k] = x[k] - 1;
    return 1;
  }
  std::unique_ptr<Oracle<double>> make_oracle(WorkerId worker) const override {
    return std::make_unique<Computer>(*this, worker == deaf_);
  }

 private:
  struct Computer final : Oracle<double> {
    Computer(const BadMemory& f, bool is_deaf) : parabola(f), deaf(is_deaf) {}
    double gradient(ComputePoint<double>& point, const Batch& batch, std::span<double> g) override {
      return parabola.gradient(point.y(), batch.rows, g);
    }
    std::unique_ptr<Replica<double>> make_replica(std::span<const double> x0) override {
      if (deaf) return std::make_unique<Deaf>(x0);
      return std::make_unique<HostReplica<double>>(x0);
    }
    const BadMemory& parabola;
    const bool deaf;
  };
  const std::optional<WorkerId> deaf_;
};

}  // namespace dasgd::test
