#pragma once

#include <cstddef>

namespace dasgd::test {

/// How much of a long test is worth its time: all of it, or a sample where a sanitizer makes every
/// step ten times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t sampled_one_in = 8;
#else
inline constexpr std::size_t sampled_one_in = 1;
#endif

}  // namespace dasgd::test
