// What travels between processes, as bytes (docs/wire_format.md). Knows no network: MPI uses it
// now, other transports may.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/bundle.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/transport/frame.hpp"

namespace dasgd::wire {

inline constexpr std::uint32_t magic = 0x47534144;  // "DASG"
inline constexpr std::uint16_t version = 4;

/// A gradient without its numbers. They take `numbers_bytes` in memory and follow as they lie
/// there, so that neither side copies them, or packed (core/packing.hpp).
struct GradientHeader {
  Gradient gradient;  ///< everything but the numbers
  std::uint64_t numbers_bytes = 0;
  std::optional<std::uint64_t> packed_bytes = {};  ///< fewer, which follow instead
  /// Where they lie instead in memory of the sender that the receiver sees; then none follow.
  std::optional<std::uint32_t> slot = {};
  bool on_device = false;  ///< as they lie on a device, and their shift follows behind them
};

/// A bundle without its sums, which follow in the same way.
struct BundleHeader {
  std::vector<GradientFacts> facts;
  NumberFormat format = NumberFormat::of_float;
  std::uint64_t sums_bytes = 0;
  std::optional<std::uint64_t> packed_bytes = {};
};

/// Bytes for whoever runs the workers: trace lines, figures, a stop. The transport does not look
/// in.
struct Note {
  Bytes bytes;
};

/// "So many of the gradients and bundles whose numbers you have sent are here."
struct Receipt {
  std::uint64_t parcels = 0;
};

/// "I am alive."
struct Beat {};

/// The last frame from one process to another, but for receipts.
struct RankGoodbye {};

using Message =
    std::variant<GradientHeader, BundleHeader, Announcement, Note, Receipt, Beat, RankGoodbye>;

Bytes encode_header(const Gradient& gradient, std::optional<std::uint64_t> packed_bytes = {});
Bytes encode_header(const Bundle& bundle, std::optional<std::uint64_t> packed_bytes = {});
/// Of one whose numbers lie in this slot.
Bytes encode_loan(const Gradient& gradient, std::uint32_t slot);
/// Of one whose numbers leave from the memory of a device and do not come here for it.
Bytes encode_header_on_device(const Gradient& gradient);
Bytes encode(const Announcement& announcement);
Bytes encode(const Note& note);
Bytes encode(const Receipt& receipt);
Bytes encode(const Beat& beat);
Bytes encode(const RankGoodbye& goodbye);

/// Bytes that are not a message: why.
struct WireRefusal {
  std::string why;
};
using Decoded = std::variant<Message, WireRefusal>;

/// Reads one message of a run with `workers` workers. Bytes that were cut, extended or changed are
/// refused, and so is a message that could not have been sent: a worker that does not exist, a
/// compute set that contradicts its step counter.
Decoded decode(std::span<const std::byte> bytes, std::size_t workers);

}  // namespace dasgd::wire
