// Who computed a gradient and which of its own it was: the name that everything else is built on.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace dasgd {

/// A worker, numbered from 0. A type of its own, so that it is never mistaken for a count.
enum class WorkerId : std::uint32_t {};

constexpr std::size_t index(WorkerId worker) { return static_cast<std::size_t>(worker); }
constexpr WorkerId worker_id(std::size_t index) { return static_cast<WorkerId>(index); }

/// A gradient: its origin and the origin's own 0-based count of gradients. Equal vectors with
/// different names are different gradients.
struct GradientName {
  WorkerId origin{};
  std::uint32_t sequence = 0;

  friend auto operator<=>(const GradientName&, const GradientName&) = default;
};

}  // namespace dasgd
