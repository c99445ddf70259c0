// What the ranks of a run send each other beside gradients.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/boards/worker_status.hpp"

namespace dasgd::cluster {

/// "Stop computing." From whoever wants it to everybody.
struct Stop {
  StopReason reason = StopReason::interrupted;
};
/// "All my workers have reached the target." To rank 0.
struct TargetReached {};
/// What the workers of a rank are doing. To rank 0, several times a second.
struct Views {
  std::vector<WorkerView> workers;
};
/// What a worker did, for the one trace, which gets everything, or for the live page. To rank 0.
struct TracePart {
  WorkerId worker{};
  Nanoseconds up_to = 0;
  std::vector<TraceLine> lines;
  std::uint64_t left_out = 0;  ///< beyond these; of the page only
};
/// The end of a rank's run. To rank 0.
struct RankReport {
  std::vector<WorkerReport> workers;
  std::optional<StopReason> stop_reason;  ///< nothing if nothing stopped it
  std::optional<std::string> failure;     ///< what failed there first
};
/// "What do your workers remember?" From rank 0, for a checkpoint.
struct StateRequest {};
/// A piece of what a worker carries over; the pieces come in order. To rank 0.
struct StatePart {
  WorkerId worker{};
  Bytes bytes;
  bool last = false;
};
/// The largest loss among the first of every worker here has grown. To everybody.
struct EarlyLoss {
  double size = 0;
};

/// So many of your lines are on their way to the disk. From rank 0.
struct TraceAck {
  std::uint64_t lines = 0;
};

/// A value for the others, or the word that no more will come. To everybody.
struct GivenValue {
  std::optional<std::string> value;
};

using Message = std::variant<Stop, TargetReached, Views, TracePart, RankReport, StateRequest,
                             StatePart, EarlyLoss, TraceAck, GivenValue>;

Bytes encode(const Message& message);
/// Nothing when these are not the bytes of a message.
std::optional<Message> decode(std::span<const std::byte> bytes);

}  // namespace dasgd::cluster
