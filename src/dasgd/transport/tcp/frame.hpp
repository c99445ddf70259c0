// Frames of a link as bytes (docs/wire_format.md). Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "dasgd/base/bytes.hpp"

namespace dasgd::tcp {

struct FrameLimits {
  std::size_t header = 16 << 20;  ///< bytes; a longer header is refused before memory is taken
};

/// What stands before the header of every frame.
using FrameHead = std::array<std::byte, 28>;
FrameHead frame_head(std::span<const std::byte> header, std::uint64_t body_bytes);

/// Takes frames apart as their bytes arrive. Says where the next bytes go, so that bodies arrive
/// where they stay.
class FrameReader {
 public:
  /// Is told of frames. May be destroyed together with the reader as soon as a call has returned.
  class Sink {
   public:
    virtual ~Sink() = default;
    /// Where the body of this header goes, exactly that long; nullopt: the frame is refused.
    virtual std::optional<std::span<std::byte>> place(std::span<const std::byte> header,
                                                      std::uint64_t body_bytes) = 0;
    /// Header and body are complete. An empty header is a sign of the link itself.
    virtual void complete(Bytes header) = 0;
  };

  explicit FrameReader(FrameLimits limits) : limits_(limits) {}
  FrameReader(const FrameReader&) = delete;  // knows where it is
  FrameReader& operator=(const FrameReader&) = delete;
  void set_limits(FrameLimits limits) { limits_ = limits; }

  /// Where the next bytes go; never empty.
  std::span<std::byte> wanted() { return wanted_; }
  /// The first `count` of the wanted bytes have arrived. Why the frame is refused, if it is: then
  /// nothing more can be read.
  std::optional<std::string> arrived(std::size_t count, Sink& sink);
  /// Whether a frame has begun and is not complete.
  bool within_frame() const { return part_ != Part::head || wanted_.size() < head_.size(); }

 private:
  enum class Part { head, header, body };

  std::optional<std::string> read_head(Sink& sink);
  std::optional<std::string> read_header(Sink& sink);
  void finish(Sink& sink);

  FrameLimits limits_;
  Part part_ = Part::head;
  FrameHead head_{};
  Bytes header_;
  std::uint64_t body_bytes_ = 0;
  std::span<std::byte> wanted_ = head_;
};

}  // namespace dasgd::tcp
