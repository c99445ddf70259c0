// What members say to each other, as bytes (docs/wire_format.md). Knows no network.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/elastic/membership/record.hpp"
#include "dasgd/elastic/membership/roster.hpp"

namespace dasgd::elastic {

inline constexpr std::uint16_t protocol_version = 8;
/// Longest texts that are taken from others.
inline constexpr std::size_t longest_name = 64, longest_address = 255, longest_facts = 3'000,
                             longest_token = 128, longest_settings = 1 << 20,
                             longest_word = 1 << 16;

/// Text that can be shown to people as it is: short, UTF-8, without control characters.
bool is_member_name(std::string_view text);

using RunId = std::array<std::byte, 16>;

/// The first frame in both directions.
struct Hello {
  RunId run{};
  Origin origin;
  std::string name, address;
  /// What must be the same at all members, a line each: "what: value". Empty: it only asks for the
  /// settings.
  std::string facts;
};

/// What was done before, where the run goes on from a checkpoint.
struct Before {
  std::uint64_t gradients = 0, samples = 0;
  double seconds = 0;
};

/// The settings of the run, for somebody who wants to join.
struct Welcome {
  std::string settings;
  std::string facts;
  std::vector<std::string> addresses;
  Before before;
};

/// "You cannot be here": why.
struct Refusal {
  std::string why;
};

/// What the network card of a member sends, in bytes per second.
struct Card {
  float rate = 0;        ///< lately
  bool is_full = false;  ///< most of the time something waits for every link of the tree
  float limit = 0;       ///< the rate when it was last full as a relay; 0: it never was
};

/// What I hold and what I know of members. At once an acknowledgement, a digest and a sign of life.
struct Report {
  GradientSet held;
  /// All that you lack I have sent or can still send, one by one.
  bool can_stream = true;
  std::vector<Record> records;
  std::uint64_t taken = 0;       ///< gradients and bundles that have come on this link
  std::vector<WorkerId> linked;  ///< to whom I have a link: their gradients come by themselves
  std::vector<WorkerId> places;  ///< of the tree, from the oldest
  std::vector<WorkerId> edges;   ///< my neighbours in it
  Card card;
};

/// Numbers follow as the body.
struct GradientMessage {
  GradientFacts facts;
  int shift = 0;
  NumberFormat format = NumberFormat::of_float;
};

/// Gradients that have waited for the link: of one origin, one after the other, or on a tree of
/// any. The sum of their updates follows as the body, packed.
struct BundleMessage {
  std::vector<GradientFacts> facts;
  NumberFormat format = NumberFormat::of_float;
};

/// "Send me your model."
struct Want {};

/// A model between two steps: its set, how many samples are in it; its sums follow as the body.
struct Snapshot {
  GradientSet names;
  std::uint64_t samples = 0;
  NumberFormat format = NumberFormat::of_float;
};

/// The last frame of somebody who left or whose run is over.
struct Goodbye {
  bool ended = false;
  Hash names;
  Hash digest;  ///< of the model with these names; zero where it did not reach the end
};

/// "Whoever joins from now on needs this token." Of several the one with the highest number holds,
/// then the greatest.
struct Rotation {
  std::uint64_t number = 0;  ///< 0: the token of the beginning
  std::string token;
  RunId run{};  ///< as it follows from that token

  friend auto operator<=>(const Rotation&, const Rotation&) = default;
};

/// What a member's loop last announced to all others; only the loop knows the meaning.
struct Word {
  Origin origin;
  std::uint64_t number = 0;  ///< of several of a member the highest holds
  std::string text;
};

/// "With these names my model had this digest." Whoever has them too can compare.
struct ModelDigest {
  GradientSet names;
  Hash digest;
};

using Message = std::variant<Hello, Welcome, Refusal, Report, GradientMessage, Want, Snapshot,
                             Goodbye, Rotation, Word, BundleMessage, ModelDigest>;

inline constexpr std::array kind_names{"hello",    "welcome", "refusal",  "report",
                                       "gradient", "want",    "snapshot", "goodbye",
                                       "rotation", "word",    "bundle",   "digest"};
static_assert(kind_names.size() == std::variant_size_v<Message>);

/// What a message is, as an index of Message; nothing for malformed bytes.
std::optional<std::size_t> kind_of(std::span<const std::byte> bytes);

/// Origins that the other end does not know are introduced first.
Bytes encode(const Message& message, Introductions& link, const Roster& roster);

/// Nothing for a malformed message: cut, extended, with numbers that were not introduced or
/// facts that contradict each other. New origins enter the roster.
std::optional<Message> decode(std::span<const std::byte> bytes, Introductions& link,
                              Roster& roster);

}  // namespace dasgd::elastic
