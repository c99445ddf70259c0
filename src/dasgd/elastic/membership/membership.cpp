#include "dasgd/elastic/membership/membership.hpp"

#include <utility>

namespace dasgd::elastic {

Membership::Membership(const Record& me, Roster& roster, const Patience& patience)
    : roster_(roster), patience_(patience) {
  roster_.number(me.origin);
  grow();
  members_[0].record = me;
  members_[0].state = MemberState::here;
}

std::string Membership::label(WorkerId member) const {
  const std::string& name = (*this)[member].record.name;
  return name.empty() ? roster_.origin(member).text().substr(0, 8) : name;
}

bool Membership::hear(const Record& record, Nanoseconds now) {
  const WorkerId number = roster_.number(record.origin);
  grow();
  if (number == self) {  // somebody made it up: what this one says next is newer
    me().version = std::max(me().version, record.version);
    return false;
  }
  Member& member = (*this)[number];
  if (member.record.version > 0 && record.version <= member.record.version) return false;
  const bool takes_its_end_back =
      (member.record.left || member.record.ended) && !record.left && !record.ended;
  if (takes_its_end_back) set_state(number, MemberState::unknown, now);
  // The first report by others about a member that is not here may be old; the second is a sign of
  // life. About one whose process is proved to be gone others keep reporting for a while, each what
  // it heard last.
  const bool may_be_older =
      member.state == MemberState::dead && now - member.since < patience_.suspect;
  const bool is_rumour = may_be_older || (member.state != MemberState::here &&
                                          !std::exchange(member.reported_by_others, true));
  member.record = record;
  if (is_rumour && member.state == MemberState::unknown) member.since = member.apart = now;
  if (!is_rumour) heard_from(number, now);
  if (record.left) set_state(number, MemberState::left, now);
  if (record.ended) set_state(number, MemberState::ended, now);
  return true;
}

void Membership::heard_from(WorkerId number, Nanoseconds now) {
  Member& member = (*this)[number];
  const Nanoseconds gap = member.heard > 0 ? now - member.heard : 0;
  member.longest_gap = std::max(gap, member.longest_gap - member.longest_gap / 64);
  member.heard = now;
  member.link_broken = false;
  if (member.state != MemberState::left && member.state != MemberState::ended)
    set_state(number, MemberState::here, now);
}

void Membership::set_state(WorkerId number, MemberState state, Nanoseconds now) {
  Member& member = (*this)[number];
  if (member.state == state) return;
  member.state = state;
  member.since = now;
  member.reported_by_others = false;
  // Thousands may come and die, and each set has a number for each of them.
  if (!may_be_alive(number)) member.reported = {};
}

void Membership::ignore_gap(Nanoseconds absence) {
  for (Member& member : members_)
    if (member.heard > 0) member.heard += absence;
}

std::vector<WorkerId> Membership::find_silent(Nanoseconds now) {
  std::vector<WorkerId> silent;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[i];
    const Nanoseconds limit =
        std::max(patience_.gone, std::min(4 * member.longest_gap, 4 * patience_.gone));
    if (member.state != MemberState::here || now - member.heard <= limit) continue;
    set_state(worker_id(i), MemberState::silent, now);
    silent.push_back(worker_id(i));
  }
  return silent;
}

std::vector<WorkerId> Membership::here() const {
  std::vector<WorkerId> here;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].state == MemberState::here) here.push_back(worker_id(i));
  return here;
}

std::vector<WorkerId> Membership::by_age() const {
  std::vector<WorkerId> all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const MemberState state = members_[i].state;
    if (state == MemberState::here || state == MemberState::ended) all.push_back(worker_id(i));
  }
  std::sort(all.begin(), all.end(), [this](WorkerId a, WorkerId b) {
    return is_older((*this)[a].record, (*this)[b].record);
  });
  return all;
}

std::size_t Membership::count_here() const {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [](const Member& m) { return m.state == MemberState::here; }));
}

bool Membership::has_member_without_address() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& m) {
    return m.state == MemberState::here && m.record.address.empty();
  });
}

bool Membership::is_unseen(const Member& m) const {
  return m.state == MemberState::silent || (m.state == MemberState::unknown && me().joined &&
                                            m.record.joined && is_older(m.record, me()));
}

bool Membership::may_be_alive(WorkerId number) const {
  const Member& m = (*this)[number];
  return m.state == MemberState::here || m.state == MemberState::silent ||
         (m.state == MemberState::unknown && m.record.joined);
}

bool Membership::has_unseen_members() const {
  return std::any_of(members_.begin() + 1, members_.end(),
                     [this](const Member& m) { return is_unseen(m); });
}

bool Membership::is_oldest_here() const {
  return std::none_of(members_.begin() + 1, members_.end(), [this](const Member& m) {
    return m.state == MemberState::here && m.record.joined && is_older(m.record, me());
  });
}

bool Membership::is_first() const {
  return std::none_of(members_.begin() + 1, members_.end(), [this](const Member& m) {
    const bool counts = m.state == MemberState::here || m.state == MemberState::ended;
    return counts && m.record.joined && is_older(m.record, me());
  });
}

bool Membership::is_cut_off(Nanoseconds now) const {
  std::size_t seen = 0, unseen = 0;
  std::uint64_t last_word = 0;
  const Member* eldest = nullptr;
  const auto consider = [&](const Member& m) {
    if (!eldest || is_older(m.record, eldest->record)) eldest = &m;
  };
  for (const Member& m : members_) {
    if (!is_unseen(m) || now - m.since > patience_.alone) continue;
    ++unseen;
    last_word = std::max(last_word, m.record.t);
    consider(m);
  }
  if (unseen == 0) return false;
  for (const Member& m : members_) {
    // A member that joined after the cut does not make a small side large.
    if (m.state != MemberState::here || m.record.joined_at > last_word) continue;
    ++seen;
    consider(m);
  }
  return seen == unseen ? eldest->state != MemberState::here : seen < unseen;
}

}  // namespace dasgd::elastic
