// A worker's doors to the world: the other workers, the samples, the time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Nanoseconds since the start of the run, real or virtual.
using Nanoseconds = std::int64_t;

/// How a worker exchanges gradients. Nothing here blocks. Each worker has its own channel and is
/// the only one to call it.
class Channel {
 public:
  virtual ~Channel() = default;

  /// receiveGradient(): moves up to `limit` waiting gradients to `waiting`, oldest arrival first.
  virtual void receive(std::size_t limit, std::vector<GradientPtr>& waiting) = 0;

  /// A gradient to be filled and sent, recycled where possible. Null while too many of this
  /// worker's gradients are still on their way: this bounds memory, and it cannot deadlock, because
  /// workers apply what arrives without ever waiting for anybody.
  virtual std::shared_ptr<Gradient> blank() = 0;

  /// sendGradient(): every other worker will receive it exactly once.
  virtual void send(GradientPtr gradient) = 0;

  /// Tells that the gradients of the last `receive` have been applied: relay on application
  /// forwards them now.
  virtual void applied(std::span<const GradientPtr> gradients) = 0;

  virtual Nanoseconds now() const = 0;
};

/// Where a worker's samples come from.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The rows of the next mini-batch; nothing when there is no further sample.
  virtual std::optional<std::span<const std::uint32_t>> next() = 0;
  /// The number of the batch that `next` gave last in the worker's whole sequence.
  virtual std::uint64_t position() const { return 0; }
  /// The rows that the next call of `next` will probably give, where they are known already.
  virtual std::optional<std::span<const std::uint32_t>> upcoming() const { return std::nullopt; }
};

}  // namespace dasgd
