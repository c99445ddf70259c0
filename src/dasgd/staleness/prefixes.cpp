#include "dasgd/staleness/prefixes.hpp"

#include <algorithm>
#include <cstddef>

#include "dasgd/base/kernel.hpp"

namespace dasgd {
namespace {

// Without a branch, so that many are compared at once.
DASGD_KERNEL bool is_any_beyond(const std::uint32_t* a, const std::uint32_t* b, std::size_t n) {
  std::uint32_t beyond = 0;
  for (std::size_t o = 0; o < n; ++o) beyond |= a[o] > b[o] ? 1u : 0u;
  return beyond != 0;
}

DASGD_KERNEL void keep_smaller(std::uint32_t* least, const std::uint32_t* other, std::size_t n) {
  for (std::size_t o = 0; o < n; ++o) least[o] = std::min(least[o], other[o]);
}

}  // namespace

bool any_beyond(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return is_any_beyond(a.data(), b.data(), a.size());
}

void keep_least(std::span<std::uint32_t> least, std::span<const std::uint32_t> other) {
  keep_smaller(least.data(), other.data(), least.size());
}

}  // namespace dasgd
