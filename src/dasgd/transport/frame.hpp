// What travels over a link.
#pragma once

#include <cstdint>
#include <variant>

#include "dasgd/core/names.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd {

/// "I have computed so many gradients and will compute no more." Sent once by every worker.
struct Announcement {
  WorkerId origin{};
  std::uint32_t computed = 0;
};

using Frame = std::variant<Parcel, Announcement>;

}  // namespace dasgd
