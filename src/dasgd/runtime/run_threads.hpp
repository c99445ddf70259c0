// One thread per worker, and the caller's, which watches.
#pragma once

#include <exception>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/worker_loop.hpp"

namespace dasgd {

/// Runs every loop on a thread of its own and `watch` on this one; returns when all have ended.
/// What `watch` throws fails the run, which is still drained.
template <typename Real, typename Watch>
void run_threads(const std::vector<std::unique_ptr<WorkerLoop<Real>>>& loops, Control& control,
                 Watch&& watch) {
  std::vector<std::jthread> threads;
  try {
    for (const auto& loop : loops) threads.emplace_back([&loop] { loop->run(); });
  } catch (...) {
    control.abandon(std::current_exception());  // first, and without memory: there may be none
    const std::size_t started = threads.size();
    threads.clear();
    throw std::runtime_error(fmt::format(
        "only {} of {} worker threads could be started; use fewer workers", started, loops.size()));
  }
  try {
    watch();
  } catch (...) {
    control.fail(std::current_exception());  // a callback threw: drain, then tell
  }
}

}  // namespace dasgd
