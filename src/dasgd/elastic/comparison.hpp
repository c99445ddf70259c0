// Whether the models of members are the same while the run goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/protocol_options.hpp"

namespace dasgd::elastic {

/// Members that compute hardly ever hold the same names at the same moment. So the eldest sends the
/// digest of its model with the names in it, and another takes it of a copy of its own model
/// without what it holds beyond these names. That is exact, and nobody stops for it. It is left out
/// where gradients of the difference are in the log no more.
class Comparison {
 public:
  explicit Comparison(const ProtocolOptions& options) : options_(options) {}

  /// `is_to_send`: this member is the one whose digest the others get.
  void tick(bool is_to_send, Nanoseconds now);
  /// Another member has sent its digest. Nothing comes of it while an older one waits for its
  /// names, or just after one has waited in vain: else the log would be kept whole for ever.
  void hear(WorkerId from, ModelDigest of_other, Nanoseconds now);
  /// While this is so, nothing leaves the log: it may be what is to be taken off.
  bool is_waiting() const { return heard_.has_value(); }

  /// What the worker is to take off its model before it takes the digest; nothing: it need not.
  std::optional<std::vector<Parcel>> begin(const Holdings& held);
  struct Difference {
    WorkerId from{};
    ModelDigest of_other;
  };
  /// The worker has taken it. Whether that of the other member is another.
  std::optional<Difference> end(const Hash& digest);

  /// What is to be sent, and how many there were until now.
  const ModelDigest& own() const { return own_; }
  std::uint64_t sent() const { return sent_; }
  /// What was found to differ, in words; empty: nothing.
  const std::string& difference() const { return difference_; }
  void note_difference(std::string what) { difference_ = std::move(what); }
  /// How many of others were the same.
  std::uint64_t equal() const { return equal_; }

 private:
  friend struct StateOf;
  const ProtocolOptions& options_;
  bool wanted_ = false;
  Nanoseconds wanted_at_ = 0, heard_at_ = 0, not_before_ = 0;
  std::optional<Difference> heard_, under_way_;
  ModelDigest own_;
  std::string difference_;
  std::uint64_t sent_ = 0, equal_ = 0;
};

}  // namespace dasgd::elastic
