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

template <typename Function>
Function* of_openblas(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// A BLAS with threads of its own would take the cores of other workers.
void one_blas_thread() {
  if (auto* const set_threads = of_openblas<void(int)>("openblas_set_num_threads")) set_threads(1);
}

bool blas_is_serial() {
  static const bool serial = [] {
    auto* const parallel = of_openblas<int()>("openblas_get_parallel");
    return parallel && parallel() == 0;
  }();
  return serial;
}

std::string faster_way(const std::function<void()>& trial) {
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

std::string choose(const std::function<void()>& trial) {
  at::set_num_threads(1);
  one_blas_thread();
  return faster_way(trial) +
         (blas_is_serial() ? ", one thread at a time: a serial OpenBLAS gives wrong numbers to "
                             "several (on Debian, install libopenblas0-pthread)"
                           : "");
}

}  // namespace

std::string settle_cpu_path(const std::function<void()>& trial) {
  static const std::string chosen = choose(trial);
  return chosen;
}

std::unique_lock<std::mutex> alone_if_blas_is_serial(const c10::Device& device) {
  static std::mutex one_at_a_time;
  return device.is_cpu() && blas_is_serial() ? std::unique_lock(one_at_a_time)
                                             : std::unique_lock<std::mutex>();
}

}  // namespace dasgd::torch_adapter
