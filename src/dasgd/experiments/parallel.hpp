// Independent pieces of work on several cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dasgd {

/// Called after each piece with how many are done and how many there are, from any thread.
using DoneSoFar = std::function<void(std::size_t done, std::size_t total)>;

/// Calls work(0) .. work(count - 1), on `threads` threads; throws what the first failing one threw.
template <typename Work>
void in_parallel(std::size_t count, unsigned threads, const DoneSoFar& progress, const Work& work) {
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex mutex;  // guards the failure
  std::exception_ptr failure;
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::max(1u, threads); ++t)
      pool.emplace_back([&] {
        try {
          for (std::size_t k = next++; k < count; k = next++) {
            work(k);
            progress(++done, count);
          }
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          next = count;
        }
      });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dasgd
