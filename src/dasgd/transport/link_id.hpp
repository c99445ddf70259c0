// The name of a link in its process.
#pragma once

#include <cstdint>

namespace dasgd {

/// A link from its dial or its acceptance to its end; never used again.
enum class LinkId : std::uint64_t {};

}  // namespace dasgd
