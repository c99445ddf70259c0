// Links to other processes, as those at their ends see them: TCP carries them, and so does virtual
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dasgd/base/bytes.hpp"
#include "dasgd/base/time.hpp"

namespace dasgd {

/// A link from its dial or its acceptance to its end; never used again.
enum class LinkId : std::uint64_t {};

/// Bytes that the kernel may hold of a link and has not sent: they cannot be summed any more.
inline constexpr std::size_t most_unsent = 128 << 10;

/// What can be done with links. Never calls back on the spot.
class Wires {
 public:
  virtual ~Wires() = default;
  virtual LinkId dial(const std::string& address) = 0;
  /// Queues a frame. The header must not be empty. The body is not copied: it lives as long as
  /// `keeper`, which is held until the frame has left or the link is gone. Before a link is one,
  /// and when it is closed or lost, nothing is taken.
  virtual void send(LinkId link, Bytes header, std::span<const std::byte> body,
                    std::shared_ptr<const void> keeper) = 0;
  /// What was to be sent and has not left yet.
  virtual std::size_t queued_bytes(LinkId link) const = 0;
  /// Ends a link, a dial too; what was sent before still leaves.
  virtual void close(LinkId link) = 0;
};

/// Takes the frames that come on links.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// A header has come, with a right checksum, and `body_bytes` follow it. Where they go: exactly
  /// that long, valid until `received` or the end of the link. Nothing: the frame is refused, and
  /// its link is lost.
  virtual std::optional<std::span<std::byte>> body(LinkId link, std::span<const std::byte> header,
                                                   std::uint64_t body_bytes, Nanoseconds now) = 0;
  /// That header again, and its body is complete.
  virtual void received(LinkId link, std::span<const std::byte> header, Nanoseconds now) = 0;
};

}  // namespace dasgd
