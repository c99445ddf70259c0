// Who is here, as far as this process knows. It may be wrong at any time: that costs a snapshot,
// never a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/elastic/membership/record.hpp"
#include "dasgd/elastic/membership/roster.hpp"

namespace dasgd::elastic {

/// When silence means something.
struct Patience {
  Nanoseconds suspect = 3'000'000'000;       ///< shown as such
  Nanoseconds gone = 10'000'000'000;         ///< no longer awaited
  Nanoseconds alone = 30'000'000'000;        ///< a cut-off side goes on after this
  Nanoseconds first_dial = 100'000'000;      ///< again, after a dial that failed
  Nanoseconds slowest_dial = 2'000'000'000;  ///< doubled up to this
};

enum class MemberState {
  unknown,  ///< only others have reported it
  here,
  silent,  ///< nothing was heard for long: it may live behind a cut
  dead,    ///< its process is proved to be gone, or declared dead by dasgd forget
  left,    ///< it said goodbye
  ended,   ///< its run is over
};

struct Member {
  Record record;
  MemberState state = MemberState::unknown;
  Nanoseconds since = 0;            ///< of this state
  Nanoseconds heard = 0;            ///< of it, by itself or by others
  Nanoseconds longest_gap = 0;      ///< between two signs of life, lately
  Nanoseconds apart = 0;            ///< since when there is no link to it
  bool in_sight = false;            ///< it is awaited: all that it lacks is in the log
  GradientSet reported;             ///< what it held when it last reported to us directly
  bool reported_by_others = false;  ///< by others, since it stands like this
  bool address_is_right = false;    ///< it was reached there, or comes from that host
  bool link_broken = false;  ///< its last link broke without a goodbye, and nothing was heard since
  Nanoseconds dial_at = 0, dial_pause = 0;
  double rate = 0;  ///< gradients per second, in the last second
  std::uint32_t reported_before = 0;
  std::uint64_t word_number = 0;  ///< 0: it has announced none
  std::string word;
};

class Membership {
 public:
  Membership(const Record& me, Roster& roster, const Patience& patience);

  Member& operator[](WorkerId member) { return members_[index(member)]; }
  const Member& operator[](WorkerId member) const { return members_[index(member)]; }
  std::size_t size() const { return members_.size(); }
  /// Room for all of the roster.
  void grow() { members_.resize(std::max(members_.size(), roster_.size())); }

  /// What people call it: its name, or the beginning of its origin.
  std::string label(WorkerId member) const;

  static constexpr WorkerId self = WorkerId{0};
  Record& me() { return members_[0].record; }
  const Record& me() const { return members_[0].record; }

  /// A sign of life of a member: what it says of itself, if it is news. True if it is.
  bool hear(const Record& record, Nanoseconds now);
  void heard_from(WorkerId member, Nanoseconds now);
  void set_state(WorkerId member, MemberState state, Nanoseconds now);

  /// This process itself could not listen for so long: nobody's silence counts.
  void ignore_gap(Nanoseconds absence);
  /// Members that have been silent for too long: they are `silent` now, and reported once.
  std::vector<WorkerId> find_silent(Nanoseconds now);

  /// All that are here, this one included, ascending by number.
  std::vector<WorkerId> here() const;
  std::size_t count_here() const;
  /// Whether somebody who is here can only dial out.
  bool has_member_without_address() const;
  bool is_here(WorkerId member) const { return (*this)[member].state == MemberState::here; }
  /// Was refused, or went again before it had a model, as far as is known: never a member.
  bool never_joined(WorkerId member) const {
    const Member& m = (*this)[member];
    const bool is_a_mere_number = m.state == MemberState::unknown && m.record.version == 0;
    return !m.record.joined && (is_a_mere_number || m.state == MemberState::left);
  }
  /// Not known to be dead or to have left, nor to have no model yet.
  bool may_be_alive(WorkerId member) const;
  /// Whether somebody may live behind a cut.
  bool has_unseen_members() const;
  /// All that are here, or were there at the end of the run, the first to come before others.
  std::vector<WorkerId> by_age() const;
  /// Whether this is the first to come of those who are here.
  bool is_oldest_here() const;
  /// The same, also when the run is over: of those who were there at its end.
  bool is_first() const;
  /// This side sees less than half of those who were members at the last word of somebody who may
  /// live behind a cut, or half without the eldest of them. Whoever has been silent for
  /// `Patience::alone` does not count any more.
  bool is_cut_off(Nanoseconds now) const;

 private:
  /// Silent, or reported by others as older than us, and never met.
  bool is_unseen(const Member& m) const;
  bool is_older(const Record& a, const Record& b) const {
    return a.joined_at != b.joined_at ? a.joined_at < b.joined_at : a.origin < b.origin;
  }
  Roster& roster_;
  const Patience patience_;
  std::vector<Member> members_;
};

}  // namespace dasgd::elastic
