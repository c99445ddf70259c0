// A small problem that stands for a large model where only the network counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"

namespace dasgd {

/// The noisy quadratic model (Zhang et al. 2019): F(x, xi) = sum of h_i (x_i - a_xi,i)^2 / 2 with
/// h_i from 1 down to 1/100 and samples a_xi around 0 whose deviation is `noise`; x starts at 1.
/// Losses are those above the least one.
class StandIn final : public Objective<float> {
 public:
  explicit StandIn(std::size_t dimension = 256, std::size_t samples = 4096, double noise = 1,
                   std::uint64_t seed = 1);

  std::size_t dimension() const override { return curvature_.size(); }
  std::size_t samples() const override { return samples_; }
  std::vector<float> start() const override { return std::vector<float>(dimension(), 1.0F); }
  double gradient(std::span<const float> x, Rows rows, std::span<float> g) const override;
  double full_gradient(std::span<const float> x, std::span<float> g) const override;
  double loss(std::span<const float> x) const override;
  KnownConstants known() const override { return {.smoothness = 1, .least_loss = 0}; }

 private:
  const std::size_t samples_;
  std::vector<float> curvature_, points_;
};

}  // namespace dasgd
