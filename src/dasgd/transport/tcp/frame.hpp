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
using FrameHead = std::array<std::byte, 36>;
FrameHead frame_head(std::span<const std::byte> header, std::span<const std::byte> body);

/// Takes frames apart as their bytes arrive. Says where the next bytes go, so that bodies arrive
/// where they stay.
class FrameReader {
 public:
  /// Receives frames. May be destroyed together with the reader as soon as a call has returned.
  class Sink {
   public:
    virtual ~Sink() = default;
    /// Where the body of this header goes, exactly that long; nullopt: the frame is refused.
    virtual std::optional<std::span<std::byte>> place(std::span<const std::byte> header,
                                                      std::uint64_t body_bytes) = 0;
    /// Header and body are complete, with right checksums. An empty header is a sign of the link
    /// itself.
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
  bool within_frame() const { return part_ != Part::start || wanted_.size() < start_bytes; }

 private:
  /// The head begins with what all versions have in common: others may have shorter heads.
  enum class Part { start, head, header, body };
  static constexpr std::size_t start_bytes = 8;

  std::optional<std::string> read_start();
  std::optional<std::string> read_head(Sink& sink);
  std::optional<std::string> read_header(Sink& sink);
  std::optional<std::string> read_body(Sink& sink);
  void finish(Sink& sink);

  FrameLimits limits_;
  Part part_ = Part::start;
  FrameHead head_{};
  Bytes header_;
  std::span<std::byte> body_;
  std::span<std::byte> wanted_ = std::span(head_).first(start_bytes);
};

}  // namespace dasgd::tcp
