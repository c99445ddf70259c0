// What the servers of published algorithms do with a late gradient.
#pragma once

#include <algorithm>
#include <cmath>

#include "dasgd/lab/rivals/methods/server.hpp"

namespace dasgd::rivals {

/// Mishchenko et al. 2022: a gradient that is later than n is worth n / tau.
inline ServerPolicy delay_adaptive(std::size_t workers) {
  return {.worth = [n = static_cast<double>(workers)](std::uint64_t tau) {
    return n / std::max(n, static_cast<double>(tau));
  }};
}

/// Koloskova et al. 2022, Theorem 8: what is later than tau_C is dropped.
inline ServerPolicy drop_late(std::uint64_t latest) {
  return {.worth = [latest](std::uint64_t tau) { return tau > latest ? 0.0 : 1.0; }};
}

/// Maranjyan et al. 2025: what is R updates late is dropped, or stopped before it is finished.
inline ServerPolicy ringmaster(std::uint64_t R, bool stops) {
  return {.worth = [R](std::uint64_t tau) { return tau < R ? 1.0 : 0.0; },
          .stops_at = stops ? R : unlimited};
}

/// Tyurin and Richtarik 2023: B gradients at one and the same model make a step; then everybody is
/// asked to begin again.
inline ServerPolicy rennala(std::size_t B, bool stops) {
  return {.worth = [](std::uint64_t tau) { return tau == 0 ? 1.0 : 0.0; },
          .batch = B,
          .stops_at = stops ? 1 : unlimited};
}

/// Nguyen et al. 2022: K updates make a step; a late one is worth 1 / sqrt(1 + tau).
inline ServerPolicy fedbuff(std::size_t K, std::size_t H, double local_lr, double momentum) {
  return {.worth = [](std::uint64_t tau) { return 1 / std::sqrt(1 + static_cast<double>(tau)); },
          .batch = K,
          .local_steps = H,
          .local_lr = local_lr,
          .momentum = momentum};
}

/// Ho et al. 2013: no worker is more than s gradients ahead of the slowest.
inline ServerPolicy stale_synchronous(std::size_t s) { return {.most_ahead = s}; }

}  // namespace dasgd::rivals
