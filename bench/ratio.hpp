// Figures are ratios of two things measured in one run on one machine, in turns, as medians.
#pragma once

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace dasgd::bench {

template <typename Action>
double seconds(Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Calls `action(i)` for i = 0 .. n - 1 on n threads at the same time; returns what each took.
template <typename Action>
std::vector<double> at_once(std::size_t n, Action&& action) {
  std::vector<double> times(n);
  std::barrier begin(static_cast<std::ptrdiff_t>(n));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      times[i] = seconds([&] { action(i); });
    });
  threads.clear();
  return times;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Times `a` and `b` in turns and returns the medians of both.
template <typename A, typename B>
std::pair<double, double> in_turns(int rounds, A&& a, B&& b) {
  std::vector<double> of_a, of_b;
  a();
  b();
  for (int i = 0; i < rounds; ++i) {
    of_a.push_back(seconds(a));
    of_b.push_back(seconds(b));
  }
  return {median(of_a), median(of_b)};
}

}  // namespace dasgd::bench
