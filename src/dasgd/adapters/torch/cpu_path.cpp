#include "dasgd/adapters/torch/cpu_path.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <limits>

namespace dasgd::torch_adapter {
namespace {

// The best of three after one that fills memory and caches; where one takes long, as few as are
// needed.
double best_time(const std::function<void()>& trial) {
  using Clock = std::chrono::steady_clock;
  constexpr double long_enough = 0.3;
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int round = 0; round < 4 && (all < long_enough || round < 2); ++round) {
    const auto start = Clock::now();
    trial();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    if (round > 0) best = std::min(best, took);
    all += took;
  }
  return best;
}

// A BLAS with threads of its own would take the cores of other workers.
void one_blas_thread() {
  using SetThreads = void (*)(int);
  if (void* const found = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<SetThreads>(found)(1);
}

std::string choose(const std::function<void()>& trial) {
  at::set_num_threads(1);
  one_blas_thread();
  auto& context = at::globalContext();
  if (!at::Context::hasMKLDNN()) return "the CPU";
  context.setUserEnabledMkldnn(true);
  const double with = best_time(trial);
  context.setUserEnabledMkldnn(false);
  const double without = best_time(trial);
  const bool keep = with <= without;
  context.setUserEnabledMkldnn(keep);
  const double gain = keep ? without / with : with / without;
  constexpr double worth_a_word = 1.1;
  return fmt::format("the CPU {} oneDNN{}", keep ? "with" : "without",
                     gain < worth_a_word ? "" : fmt::format(" ({:.1f} times as fast here)", gain));
}

}  // namespace

std::string settle_cpu_path(const std::function<void()>& trial) {
  static const std::string chosen = choose(trial);
  return chosen;
}

}  // namespace dasgd::torch_adapter
