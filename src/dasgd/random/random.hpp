// Counter-based random numbers: a draw is a pure function of (seed, purpose, a, b) and its
// position, so neither threads nor the order of calls can change it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace dasgd {

/// What a stream of random numbers is for. Streams of different purposes are independent.
enum class Purpose : std::uint32_t {
  shards = 1,
  epoch_order,
  problem_matrix,
  problem_vector,
  problem_labels,
  graph,
  compute_time,
  latency,
  chaos,
  scenario,
  test,
  pilot,
  weights,
  augmentation,
  validation,
  speed,
  rival,
  bootstrap,
  independent_draws,
  arrivals,
};

/// One stream of Philox4x32-10. Cheap to create. Same arguments, same numbers, on every machine.
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::uint32_t a = 0, std::uint32_t b = 0);

  std::uint32_t bits();
  std::uint64_t bits64() { return (std::uint64_t{bits()} << 32) | bits(); }
  /// Uniform in 0 .. bound - 1, without bias.
  std::uint32_t below(std::uint32_t bound);
  /// Uniform in [0, 1) with 53 bits.
  double uniform();
  /// Standard normal.
  double normal();

  template <typename Sequence>
  void shuffle(Sequence& sequence) {
    for (std::size_t i = sequence.size(); i > 1; --i)
      std::swap(sequence[i - 1], sequence[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::uint64_t seed_;
  std::array<std::uint32_t, 3> stream_;
  std::uint32_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  std::size_t used_ = 4;
};

/// 0 .. size - 1 in an order drawn from `random`.
std::vector<std::uint32_t> permutation(std::size_t size, Random random);

}  // namespace dasgd
