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

// The best of four, the first of which fills memory and caches; where one takes long, as few as are
// needed.
double best_time(const std::function<void()>& trial) {
  using Clock = std::chrono::steady_clock;
  constexpr double long_enough = 0.3, too_long = 1.0;
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int round = 0; round < 4 && all < (round < 2 ? too_long : long_enough); ++round) {
    const auto start = Clock::now();
    trial();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, took);
    all += took;
  }
  return best;
}

std::string faster_way(const std::function<void()>& trial, const std::function<void()>& enlarge) {
  auto& context = at::globalContext();
  if (!at::Context::hasMKLDNN()) return "the CPU";
  constexpr double quick = 0.1;
  context.setUserEnabledMkldnn(true);
  double with = best_time(trial);
  if (with < quick) {
    enlarge();
    with = best_time(trial);
  }
  context.setUserEnabledMkldnn(false);
  const double without = best_time(trial);
  const bool keep = with <= without;
  context.setUserEnabledMkldnn(keep);
  const double gain = keep ? without / with : with / without;
  constexpr double worth_a_word = 1.1;
  return fmt::format("the CPU {} oneDNN{}", keep ? "with" : "without",
                     gain < worth_a_word ? "" : fmt::format(" ({:.1f} times as fast here)", gain));
}

std::string choose(const std::function<void()>& trial, const std::function<void()>& enlarge) {
  at::set_num_threads(1);
  one_blas_thread();
  return faster_way(trial, enlarge) +
         (blas_is_serial() ? ", one thread at a time: a serial OpenBLAS gives wrong numbers to "
                             "several (on Debian, install libopenblas0-pthread)"
                           : "");
}

}  // namespace

std::string settle_cpu_path(const std::function<void()>& trial,
                            const std::function<void()>& enlarge) {
  static const std::string chosen = choose(trial, enlarge);
  return chosen;
}

}  // namespace dasgd::torch_adapter
