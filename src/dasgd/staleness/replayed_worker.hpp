// What the referee finds out about one worker.
#pragma once

#include <cstdint>
#include <vector>

namespace dasgd {

/// |S| and |S_hat| of a worker's applications, in order.
struct ReplayedWorker {
  std::vector<std::uint64_t> S, S_hat;
  std::uint64_t noncausal = 0;  ///< applications at which something was missing
  std::uint64_t W = 0;          ///< the largest w_g
};

}  // namespace dasgd
