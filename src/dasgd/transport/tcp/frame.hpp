// Frames of a link as bytes (docs/wire_format.md). Knows no sockets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

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
  /// What bytes that have arrived complete, with right checksums.
  enum class Step {
    part,     ///< neither of these
    header,   ///< that of a frame whose body has to be placed before anything else
    frame,    ///< with its body; one without a header is a sign of the link itself
    refused,  ///< nothing: see `refusal`; nothing more can be read
  };

  explicit FrameReader(FrameLimits limits) : limits_(limits) {}
  FrameReader(const FrameReader&) = delete;  // knows where it is
  FrameReader& operator=(const FrameReader&) = delete;
  void set_limits(FrameLimits limits) { limits_ = limits; }

  /// Where the next bytes go; never empty.
  std::span<std::byte> wanted() { return wanted_; }
  /// The first `count` of the wanted bytes have arrived.
  Step arrived(std::size_t count);
  /// The body goes there, exactly that long: a `frame` at once if it is empty.
  Step place(std::span<std::byte> body);
  /// Of the frame whose header is complete.
  std::span<const std::byte> header() const { return header_; }
  std::uint64_t body_bytes() const;
  /// Of the frame that is complete; once.
  Bytes take_header() { return std::exchange(header_, {}); }
  const std::string& refusal() const { return refusal_; }
  /// Whether a frame has begun and is not complete.
  bool within_frame() const { return part_ != Part::start || wanted_.size() < start_bytes; }

 private:
  /// The head begins with what all versions have in common: others may have shorter heads.
  enum class Part { start, head, header, body };
  static constexpr std::size_t start_bytes = 8;

  Step read_start();
  Step read_head();
  Step read_header();
  Step read_body();
  Step finish();
  Step refuse(std::string why);

  FrameLimits limits_;
  Part part_ = Part::start;
  FrameHead head_{};
  Bytes header_;
  std::span<std::byte> body_;
  std::span<std::byte> wanted_ = std::span(head_).first(start_bytes);
  std::string refusal_;
};

}  // namespace dasgd::tcp
