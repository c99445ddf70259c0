// Whoever looks at a simulated run from outside: free of charge, at instants of virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "dasgd/base/time.hpp"

namespace dasgd {

/// What one node has done so far.
struct NodeUse {
  Nanoseconds busy = 0;  ///< computing and passing over vectors, what is under way included
  std::uint64_t messages = 0, sent = 0, received = 0;  ///< sent ones; bytes, without headers
  std::uint64_t kept =
      0;  ///< bytes: models, gradients and what waits; those under way are not in it
};

/// A run at one instant: after everything that happened then.
template <typename Real>
struct Instant {
  Nanoseconds time = 0;
  std::span<const std::span<const Real>> models;  ///< of those who hold one
  std::span<const NodeUse> nodes;
  std::uint64_t gradients = 0, wasted = 0;  ///< complete so far; of them, in vain
  std::uint64_t samples = 0;
};

/// Looks at every multiple of `every`, from 0 on, and once more at the end.
template <typename Real>
struct Observer {
  Nanoseconds every = 0;
  std::function<bool(const Instant<Real>&)> look;  ///< true: the run may end
  bool ends_at_once = false;                       ///< then without what is still under way
};

}  // namespace dasgd
