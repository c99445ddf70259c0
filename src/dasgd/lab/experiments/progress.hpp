// How far an experiment is.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "dasgd/base/parallel.hpp"

namespace dasgd {

/// Called after each run with how many are done and how many there are, from any thread.
using DoneSoFar = std::function<void(std::size_t done, std::size_t total)>;

/// in_parallel that shows how far it is.
template <typename Work>
void in_parallel(std::size_t count, unsigned threads, const DoneSoFar& progress, const Work& work) {
  std::atomic<std::size_t> done{0};
  in_parallel(count, threads, [&](std::size_t k) {
    work(k);
    progress(++done, count);
  });
}

}  // namespace dasgd
