// What a runtime needs of a transport, beyond the channel that a worker sees.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "dasgd/core/channel.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/core/traffic.hpp"

namespace dasgd {

/// One worker's end of a transport. Used by the worker's thread, except where said otherwise. Every
/// transport passes the same contract suite (tests/transport/contract.hpp).
class Endpoint : public Channel {
 public:
  /// Announces that this worker has sent all its gradients, `computed` with those of earlier legs.
  virtual void announce(std::uint32_t computed) = 0;

  /// How many gradients all workers have sent, once all have announced it here. Any thread.
  virtual std::optional<std::uint64_t> announced_total() const = 0;

  /// Sleeps until something arrived, `wake` was called, or `limit` has passed.
  virtual void wait(std::chrono::milliseconds limit) = 0;
  /// Ends a wait, now or the next one. Any thread.
  virtual void wake() = 0;

  /// Gradients that wait to be applied. Any thread.
  virtual std::size_t inbox_depth() const = 0;
  /// Copies that arrived after the first. Any thread.
  virtual std::uint64_t copies_dropped() const = 0;
  /// What this worker put on its links. Any thread.
  virtual Traffic sent() const = 0;
  /// Whether something that was sent was lost, because memory ran out on the way. A run on this
  /// transport then cannot be drained. Any thread.
  virtual bool has_lost() const { return false; }
  /// How long `blank` took to make room. Any thread.
  virtual Nanoseconds waited() const = 0;
};

}  // namespace dasgd
