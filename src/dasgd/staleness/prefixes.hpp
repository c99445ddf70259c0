// Comparisons of prefixes, a number per origin: a gradient brings one, and each worker looks at it.
#pragma once

#include <cstdint>
#include <span>

namespace dasgd {

/// Whether one of `a` is larger than the same of `b`; they are equally long.
bool any_beyond(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
/// Each of `least` becomes the smaller of the two; they are equally long.
void keep_least(std::span<std::uint32_t> least, std::span<const std::uint32_t> other);

}  // namespace dasgd
