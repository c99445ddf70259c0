#include "dasgd/adapters/torch/cpu_path.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <limits>

#include "dasgd/adapters/torch/blas.hpp"

namespace dasgd::torch_adapter {
namespace {

struct Times {
  double with = std::numeric_limits<double>::infinity(), without = with;
};

// Two ways to compute, each tried up to four times, in turns: what else the machine does meanwhile
// delays both. The first times fill memory and caches; where one takes long, as few as are needed.
Times best_times(const std::function<void()>& trial) {
  using Clock = std::chrono::steady_clock;
  constexpr double long_enough = 0.6, too_long = 2.0;
  Times best;
  double all = 0;
  for (int round = 0; round < 4 && all < (round < 2 ? too_long : long_enough); ++round)
    for (const bool with : {true, false}) {
      at::globalContext().setUserEnabledMkldnn(with);
      const auto start = Clock::now();
      trial();
      const double took = std::chrono::duration<double>(Clock::now() - start).count();
      double& least = with ? best.with : best.without;
      least = std::min(least, took);
      all += took;
    }
  return best;
}

// Only a clear gain speaks against oneDNN: where both are about as fast chance would choose.
std::string faster_way(const std::function<void(std::size_t)>& gradient_of) {
  if (!at::Context::hasMKLDNN()) return "the CPU";
  constexpr double quick = 0.1, clear = 1.2, worth_a_word = 1.1;
  Times best;
  for (const std::size_t samples : {2, 8, 32}) {
    best = best_times([&] { gradient_of(samples); });
    if (std::min(best.with, best.without) >= quick) break;
  }
  const bool keep = best.with <= clear * best.without;
  at::globalContext().setUserEnabledMkldnn(keep);
  const double gain = keep ? best.without / best.with : best.with / best.without;
  return fmt::format("the CPU {} oneDNN{}", keep ? "with" : "without",
                     gain < worth_a_word ? "" : fmt::format(" ({:.1f} times as fast here)", gain));
}

std::string choose(const std::function<void(std::size_t)>& gradient_of) {
  at::set_num_threads(1);
  one_blas_thread();
  return faster_way(gradient_of) +
         (blas_is_serial() ? ", one thread at a time: a serial OpenBLAS gives wrong numbers to "
                             "several (on Debian, install libopenblas0-pthread)"
                           : "");
}

}  // namespace

std::string settle_cpu_path(const std::function<void(std::size_t)>& gradient_of) {
  static const std::string chosen = choose(gradient_of);
  return chosen;
}

void compute_alone() {
  static thread_local const bool alone = (at::init_num_threads(), true);
  static_cast<void>(alone);
}

}  // namespace dasgd::torch_adapter
