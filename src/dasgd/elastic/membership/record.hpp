// What a member says of itself; others pass it on and add nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dasgd/elastic/membership/origin.hpp"
#include "dasgd/record/stop_reason.hpp"

namespace dasgd::elastic {

inline constexpr std::uint64_t highest_version = std::uint64_t{1} << 62;  ///< that is believed

/// Only its subject raises the version; whoever hears a higher one knows that it lived then. A
/// subject that hears of a version it never said says a higher one.
struct Record {
  Origin origin;
  std::uint64_t version = 0;
  std::string name;
  std::string address;          ///< where it listens; empty: it can only dial
  bool joined = false;          ///< it has a model
  std::uint64_t joined_at = 0;  ///< the step at which it joined; the first to join is the oldest
  std::uint64_t t = 0;          ///< gradients in its model
  std::uint64_t computed = 0;   ///< of its own
  std::optional<StopReason> ending;  ///< the run is to end, and this member knows it
  bool stopped = false;              ///< it will compute no more
  bool left = false;                 ///< it went by itself
  bool ended = false;                ///< its run is over
  double early_loss = 0;             ///< the largest at the beginning of the run that it knows of
  Hash names;                        ///< of what it holds, once it has stopped
  Hash ready;                        ///< of that and of all it sees, once it will admit no new name
  Hash digest;                       ///< of its model, which holds `names`, once its run is over
};

}  // namespace dasgd::elastic
