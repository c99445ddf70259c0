// Frames between workers in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// A gradient that was sent and has not arrived.
struct Flight {
  GradientPtr gradient;
  WorkerId from{}, source{};          ///< the sender, and the neighbour the sender had it from
  std::optional<std::size_t> target;  ///< nothing: all neighbours of the sender but `source`
};

/// Keeps frames by number until they arrive; numbers are used again.
class Flights {
 public:
  std::uint32_t depart(Flight flight) {
    if (free_.empty()) {
      flights_.push_back(std::move(flight));
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    flights_[number] = std::move(flight);
    return number;
  }
  Flight arrive(std::uint32_t number) {
    free_.push_back(number);
    return std::exchange(flights_[number], {});
  }

 private:
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;
};

}  // namespace dasgd
