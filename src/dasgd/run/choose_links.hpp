// Over which links updates travel, and in how many bits, where a run leaves that open.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/message_format.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// What is known of the network before a run begins.
struct NetworkLimits {
  std::string kind;  ///< for people: "threads share memory"
  /// Bytes per second; nothing: fast enough for anything.
  std::optional<double> card, link;
  double gradient_seconds = 0;
  std::size_t dimension = 0;
  NumberFormat format = NumberFormat::of_float;
};

/// Workers that are few enough for a mesh whatever the network.
inline constexpr std::size_t most_in_mesh = 8;

/// For how long the busiest card, or link, is busy with what one gradient of each worker asks of
/// it, in gradients: 0 without a limit.
double load(const NetworkLimits& network, const TrainOptions& options);

/// Whether the relay or the message is `auto`.
bool leaves_links_open(const TrainOptions& options);

/// Replaces `auto` of the relay by a mesh for up to `most_in_mesh` workers or where cards carry it,
/// else by a tree; then `auto` of the message by the most bits that wait for two gradients at most,
/// or the fewest. Sets `links_why` where it has chosen.
TrainOptions choose_links(TrainOptions options, const NetworkLimits& network);

/// Why a process that chooses its message while it runs (see MessageChooser) sends it in so many
/// bits: so many gradients were in a message in the mean.
std::string reason_of_message(double waited);

}  // namespace dasgd
