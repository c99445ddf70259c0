// Fixed shares of a data set, one per worker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dasgd {

/// Shares are equally large: that of worker i begins here in the order in which samples are dealt.
inline std::size_t first_of_share(std::size_t i, std::size_t workers, std::size_t samples) {
  return i * samples / workers;
}

/// The samples of each worker's share, where shares are skewed by label: worker i has class
/// proportions of its own, drawn from a Dirichlet distribution with parameters alpha * n_c / n, and
/// takes its samples by them, class by class, as long as there are any (Hsu, Qi and Brown, 2019).
/// Shares are as large as those of `shards`, and every sample is in one.
std::vector<std::vector<std::uint32_t>> deal_by_label(std::span<const std::uint32_t> labels,
                                                      std::size_t workers, double alpha,
                                                      std::uint64_t seed);

}  // namespace dasgd
