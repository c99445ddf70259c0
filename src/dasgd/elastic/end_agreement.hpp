// The end of a run: who has stopped, who holds what, and when all know that it is the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/elastic/takeover.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd::elastic {

/// Equality is stable: a message under way carries no name that its sender lacks. Whoever is ready
/// admits no new name, and goes back only where somebody whom it counted on says that it holds
/// something else; never because of silence, for a silent member may have ended.
class EndAgreement {
 public:
  EndAgreement(const ProtocolOptions& options, Membership& members, const Roster& roster)
      : options_(options), members_(members), roster_(roster) {}

  /// The run is to end. False: it was already.
  bool begin(StopReason why, Nanoseconds now);
  /// This member is to go, the others may stay.
  void leave() { leaving_ = true; }
  /// The worker computes no more. False: it had stopped already.
  bool stop(Nanoseconds now);
  /// It takes no part any more.
  void break_off() { over_ = true; }
  void give_up(std::string why);
  /// Others have ended without so many of its gradients.
  void miss(std::uint64_t own_gradients);

  struct Holding {
    const GradientSet& names;
    const Takeover& takeover;  ///< what may still change them
    /// Whether all who are linked and not behind hold these.
    std::function<bool(const GradientSet&)> others_hold;
  };
  /// What is to be done next.
  enum class Step {
    wait,
    begin,     ///< the end, for nobody has samples left; then settle again
    reopen,    ///< take in what was held back: somebody holds something else
    announce,  ///< that this one is ready; then settle again
    over,
  };
  Step settle(const Holding& held, Nanoseconds now);
  /// Ready no more: what is to be admitted now.
  std::vector<Parcel> reopen();
  /// Whether a new name is too late; it may be held back.
  bool admits_nothing() const { return over_ || is_ready(); }
  void hold_back(Parcel parcel) { held_back_.push_back(std::move(parcel)); }

  /// The digest of this member's model is on its way to the others.
  void compare(const Hash& digest, Nanoseconds now);
  /// Everybody who is still here and ended with these names has sent its own, or takes too long.
  bool has_compared(const GradientSet& names, Nanoseconds now) const;

  std::optional<StopReason> ending() const { return members_.me().ending; }
  bool has_stopped() const { return members_.me().stopped; }
  bool is_ready() const { return members_.me().ready != Hash{}; }
  bool is_leaving() const { return leaving_; }
  /// It leaves, and has not stopped yet.
  bool is_handing_over() const {
    return leaving_ && !over_ && !has_stopped() && members_.me().joined;
  }
  bool is_over() const { return over_; }
  /// All who were here ended with the same names.
  bool has_agreed() const { return agreed_; }
  std::uint64_t too_late() const { return too_late_; }
  const std::string& could_not_join() const { return could_not_join_; }

 private:
  friend struct StateOf;
  Step settle_leaving(const Holding& held, Nanoseconds now);
  Step agree();
  Hash ready_hash(const std::vector<WorkerId>& with, const Hash& names) const;

  const ProtocolOptions& options_;
  Membership& members_;
  const Roster& roster_;
  Nanoseconds since_ = 0;
  bool leaving_ = false, over_ = false, agreed_ = false, missed_ = false;
  Nanoseconds compared_at_ = 0;
  std::uint64_t too_late_ = 0;
  std::string could_not_join_;
  std::optional<GradientSet> handed_over_;  // by one that leaves
  std::vector<WorkerId> ready_with_;
  std::vector<Parcel> held_back_;  // came after this member was ready
};

}  // namespace dasgd::elastic
