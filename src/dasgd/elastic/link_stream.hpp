// What goes to the other end of a link one by one: what it has, what it was sent, where it stands
// in the log; and when it gets a model instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/protocol_options.hpp"

namespace dasgd::elastic {

class LinkStream {
 public:
  /// What the other end holds, has taken and can send; its set and its links are taken over.
  void hear(Report& report, const GradientSet& held, Nanoseconds now);
  /// This came from there.
  void came(const Parcel& parcel) { offer(parcel); }
  /// It asks for a model: what was sent one by one may be lost to it.
  void want_model();
  /// Whether whoever has a link to an origin waits for it. Not where gradients travel on several
  /// routes and nothing is bundled, nor at a member that leaves.
  void trust_origins(bool trusted) { trusts_origins_ = trusted; }
  /// What is sent over it at once: own gradients, or on a link of a tree everything that came over
  /// other links of it, from a place in the log on; nothing over a link beside the tree.
  struct Route {
    bool in_tree = false;  ///< there is one
    bool at_once = true;
    std::uint64_t from = 0;
  };
  void take_route(const Route& route) { route_ = route; }
  /// From here on the log keeps everything for it.
  void promise(const GradientSet& names);
  /// A model with these names leaves.
  void serve(const GradientSet& names);

  struct Rules {
    std::size_t most_under_way = 0;
    bool folds = false;  ///< what has waited for a full link leaves as one
    Nanoseconds repair_after = 0, await_origin = 0;
    Nanoseconds await_relay = 0;     ///< on a tree, before own ones are sent past it
    std::function<bool()> has_room;  ///< in what lies below the link
    std::function<void(const Parcel&)> send;
  };
  /// Sends what it lacks, as far as the link takes it. What has waited for it leaves as one: own
  /// gradients, on a tree all. So a thin link carries fewer and fuller messages, and is behind by
  /// no more than the one that it carries.
  void pump(const Log& log, const Rules& rules, Nanoseconds now);

  /// It lacks more than may wait: it gets a model, when it asks. True if that is news.
  bool fall_behind(const Holdings& held, std::size_t most_waiting);
  /// Where it has got so much on other ways that the rest can be sent, it is behind no more.
  void catch_up(const Holdings& held);

  const GradientSet& reported() const { return reported_; }
  /// What is made now has to wait.
  bool is_full() const { return was_full_; }
  /// Whether the other end has a link to this member.
  bool is_linked_to(WorkerId member) const {
    return std::find(linked_.begin(), linked_.end(), member) != linked_.end();
  }
  bool has_reported() const { return has_reported_; }
  bool is_behind() const { return behind_; }
  std::uint32_t times_behind() const { return times_behind_; }
  bool wants_model() const { return wants_model_; }
  /// A model was sent on it.
  bool is_served() const { return served_; }
  /// All that it lacks was sent or can still be, one by one, or comes to it from the origin: that
  /// one may have bundled it in another way. ...
  bool can_stream(const Holdings& held) const;
  /// ... and that is so at the other end.
  bool peer_can_stream() const { return peer_can_stream_; }
  /// One of both sides needs a model of the other.
  bool is_merging(const Holdings& held) const {
    return has_reported_ && !(peer_can_stream_ && can_stream(held));
  }
  /// What the other end has and we lack does not come one by one: it says so, or it has not come
  /// for longer than `patience`; nothing of it, where origins are trusted.
  bool needs_its_model(const GradientSet& held, Nanoseconds now, Nanoseconds patience) const;

 private:
  friend struct StateOf;
  // Bytes for one message, others wait: of numbers, and of facts, which are in its header.
  static constexpr std::size_t most_summed = 64 << 20, most_facts = 8 << 20;
  static constexpr std::uint32_t enough_reports = 2;  // that say: I cannot stream

  void offer(const Parcel& parcel);
  void send(const Parcel& parcel, const Rules& rules);
  void send_at_once(const Log& log, const Rules& rules);
  void send_lost(const Log& log, const Rules& rules, Nanoseconds now);
  void send_parts(const Log& log, const Rules& rules, Nanoseconds now);
  void forget_resent(const Rules& rules, Nanoseconds now);
  void look_for_holes(Nanoseconds now);
  bool wants(const Parcel& parcel) const;
  bool gets_it_from(WorkerId origin) const;
  bool gets_it_from_origins(const Parcel& parcel) const;
  bool has_room(const Rules& rules) const {
    return sent_ - acked_ < rules.most_under_way && rules.has_room();
  }
  void restart() {
    quick_ = slow_ = late_ = 0;
    resent_ = resent_before_ = {};
  }

  GradientSet reported_;  // what the other end said that it holds
  GradientSet promised_;  // the names of a model that is on its way
  GradientSet offered_;   // known there or sent
  // Past the tree, on which it was lost: lately, and before that.
  GradientSet resent_, resent_before_;
  Route route_;
  std::uint32_t own_prefix_ = 0, own_seen_ = 0;  // of own ones, how many are there; behind the last
  Nanoseconds own_seen_at_ = 0, hole_since_ = 0, resent_at_ = 0, parts_at_ = 0;
  bool has_reported_ = false, behind_ = false, wants_model_ = false, served_ = false;
  bool was_full_ = false;  // what waits for it leaves as one
  std::uint32_t times_behind_ = 0;
  // Places in the log: what is sent at once, what later, what only if its origin does not send it.
  std::uint64_t quick_ = 0, slow_ = 0, late_ = 0;
  std::uint64_t sent_ = 0, acked_ = 0;  // messages; of them, those that have arrived
  std::vector<WorkerId> linked_;        // to whom the other end has links
  bool peer_can_stream_ = true;
  std::uint32_t reports_without_stream_ = 0;
  GradientSet lacked_;  // what they had and we did not, at some time
  std::uint64_t still_lacked_ = 0;
  Nanoseconds lacked_since_ = 0, less_since_ = 0;  // when that was, and when some of it came
  bool trusts_origins_ = true;
};

}  // namespace dasgd::elastic
