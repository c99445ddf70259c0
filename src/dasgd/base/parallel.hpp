// Independent pieces of work on several cores.
#pragma once

#include <atomic>
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

}  // namespace dasgd
