// The hand-over of models: what whoever asks for one gets, and how a member goes over to the model
// of another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "dasgd/elastic/adoption/copies.hpp"
#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/protocol_options.hpp"
#include "dasgd/transport/wires.hpp"

namespace dasgd::elastic {

/// The worker makes a snapshot between two of its steps; it serves all who ask within a moment.
class Snapshots {
 public:
  /// The last one, if whoever holds `there` can get one by one what has come since. Else the worker
  /// is to make another.
  const Model* fit_for(const GradientSet& there, const Holdings& held) {
    const bool fits =
        last_ && held.log().has_all_of(held.names().without(last_->names).without(there));
    if (!fits) wanted_ = true;
    return fits ? &*last_ : nullptr;
  }
  bool is_wanted() const { return wanted_; }
  bool has_one() const { return last_.has_value(); }
  const std::optional<Model>& last() const { return last_; }
  /// The worker has made one; it is not kept where nobody wants it any more.
  void made(Model model, Nanoseconds now) {
    if (!std::exchange(wanted_, false)) return;
    last_ = std::move(model);
    at_ = now;
    is_new_ = true;
  }
  /// Whether one was made since this was last asked: those who wait are to be served.
  bool take_news() { return std::exchange(is_new_, false); }
  void expire(Nanoseconds now) {
    if (last_ && now - at_ > ProtocolOptions::keep_snapshot) last_.reset();
  }

 private:
  friend struct StateOf;
  std::optional<Model> last_;
  Nanoseconds at_ = 0;
  bool wanted_ = false, is_new_ = false;
};

/// One model at a time: asked for, then offered to the worker, then adopted or not.
class Takeover {
 public:
  Takeover(const ProtocolOptions& options, const Membership& members)
      : options_(options), members_(members) {}

  /// Somebody who has a model and whom this member could ask for it.
  struct Giver {
    LinkId link{};
    WorkerId member{};
    const GradientSet* holds = nullptr;
    /// What this member lacks does not come one by one.
    bool is_needed = false;
  };
  /// Whom to ask now: who has most that is not held. Nobody while an answer is awaited; `arriving`
  /// says that it has begun to come.
  std::optional<LinkId> ask(std::span<const Giver> givers, const GradientSet& held, bool arriving,
                            Nanoseconds now);
  /// A model has come.
  void offer(Model model, WorkerId from, Nanoseconds now);
  /// What the worker is to do with it; nothing: these two models cannot be put together, for now.
  std::optional<Adoption> decide(const Holdings& held, const Copies& copies, Nanoseconds now);
  void withdraw() { offered_.reset(); }
  /// The link broke.
  void lost(LinkId link) {
    if (pulling_ == link) pulling_.reset();
  }
  /// The gradient that corrects what was adopted is there, or will not come.
  void corrected() { is_to_correct_ = false; }

  bool is_to_correct() const { return is_to_correct_; }
  const std::optional<Model>& offered() const { return offered_; }
  const std::optional<LinkId>& pulling() const { return pulling_; }
  bool is_under_way() const { return pulling_ || offered_; }
  /// Is in the model that was asked for.
  const GradientSet& at_least() const { return at_least_; }
  WorkerId from() const { return from_; }
  bool is_stuck() const { return stuck_since_.has_value(); }

 private:
  friend struct StateOf;
  bool stuck_for(Nanoseconds limit, Nanoseconds now) const {
    return stuck_since_ && now - *stuck_since_ > limit;
  }
  std::optional<Adoption> plan(const Holdings& held, const Copies& copies, Nanoseconds now) const;

  const ProtocolOptions& options_;
  const Membership& members_;
  std::optional<LinkId> pulling_;
  WorkerId asked_{}, from_{};
  Nanoseconds at_ = 0;  // when it was asked, or has answered
  GradientSet at_least_;
  std::optional<Model> offered_;
  bool is_to_correct_ = false;
  std::optional<Nanoseconds> stuck_since_;
  std::map<WorkerId, Nanoseconds> not_before_;
};

}  // namespace dasgd::elastic
