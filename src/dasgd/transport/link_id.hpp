// The name of a link in its process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dasgd {

/// A link from its dial or its acceptance to its end; never used again.
enum class LinkId : std::uint64_t {};

/// Bytes that the kernel may hold of a link and has not sent: they cannot be summed any more.
inline constexpr std::size_t most_unsent = 128 << 10;

}  // namespace dasgd
