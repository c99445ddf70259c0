// Independent pieces of work on several cores.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace dasgd {

/// Calls work(0) .. work(count - 1) in that order, on this thread and up to `threads` - 1 more, and
/// returns when all have ended. After a failure no further piece is begun; throws what the first
/// one threw. Where the system gives fewer threads, fewer work.
template <typename Work>
void in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // guards the failure
  std::exception_ptr failure;
  const auto take_pieces = [&] {
    try {
      for (std::size_t k = next++; k < count; k = next++) work(k);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      while (helpers.size() + 1 < threads && helpers.size() + 1 < count)
        helpers.emplace_back(take_pieces);
    } catch (const std::system_error&) {
    }
    take_pieces();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls work(k) for pieces of sizes[k], as many at a time as fit: together they are at most
/// `room`, and a larger piece runs alone. Of those that fit the first begins. Otherwise like
/// in_parallel.
template <typename Work>
void in_parallel_within(std::size_t room, const std::vector<std::size_t>& sizes, const Work& work) {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::vector<bool> begun(sizes.size());
  std::size_t taken = 0, left = sizes.size();
  const auto next_that_fits = [&] {
    std::size_t k = 0;
    while (k < sizes.size() && (begun[k] || (taken > 0 && taken + sizes[k] > room))) ++k;
    return k;
  };
  const auto take_pieces = [&](std::size_t) {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return left == 0 || next_that_fits() < sizes.size(); });
      if (left == 0) return;
      const std::size_t k = next_that_fits();
      begun[k] = true;
      taken += sizes[k];
      --left;
      lock.unlock();
      const auto release = [&] {
        lock.lock();
        taken -= sizes[k];
        changed.notify_all();
      };
      try {
        work(k);
      } catch (...) {
        release();
        left = 0;
        throw;
      }
      release();
    }
  };
  in_parallel(sizes.size(), static_cast<unsigned>(sizes.size()), take_pieces);
}

}  // namespace dasgd
