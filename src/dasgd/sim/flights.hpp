// Frames between workers in virtual time.
#pragma once

#include <cstddef>
#include <optional>

#include "dasgd/core/gradient.hpp"
#include "dasgd/virtual_time/slots.hpp"

namespace dasgd {

/// A gradient that was sent and has not arrived.
struct Flight {
  GradientPtr gradient;
  WorkerId from{}, source{};          ///< the sender, and the neighbour the sender had it from
  std::optional<std::size_t> target;  ///< nothing: all neighbours of the sender but `source`
};

using Flights = Slots<Flight>;

}  // namespace dasgd
