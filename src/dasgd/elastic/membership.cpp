#include "dasgd/elastic/membership.hpp"

namespace dasgd::elastic {

Membership::Membership(const Record& me, Roster& roster, const Patience& patience)
    : roster_(roster), patience_(patience) {
  roster_.number(me.origin);
  grow();
  members_[0].record = me;
  members_[0].standing = Standing::here;
}

bool Membership::hear(const Record& record, Nanoseconds now) {
  const WorkerId number = roster_.number(record.origin);
  grow();
  if (number == self) return false;
  Member& member = (*this)[number];
  if (member.record.version > 0 && record.version <= member.record.version) return false;
  // The first that is heard of somebody may be old: others may tell of members that died long ago.
  const bool is_rumour = member.standing == Standing::unknown && member.record.version == 0;
  member.record = record;
  if (!is_rumour) heard_from(number, now);
  if (record.left) stand(number, Standing::left, now);
  if (record.ended) stand(number, Standing::ended, now);
  return true;
}

void Membership::heard_from(WorkerId number, Nanoseconds now) {
  Member& member = (*this)[number];
  const Nanoseconds gap = member.heard > 0 ? now - member.heard : 0;
  member.longest_gap = std::max(gap, member.longest_gap - member.longest_gap / 64);
  member.heard = now;
  member.hung_up = false;
  if (member.standing != Standing::left && member.standing != Standing::ended)
    stand(number, Standing::here, now);
}

void Membership::stand(WorkerId number, Standing standing, Nanoseconds now) {
  Member& member = (*this)[number];
  if (member.standing == standing) return;
  member.standing = standing;
  member.since = now;
}

std::vector<WorkerId> Membership::find_silent(Nanoseconds now) {
  std::vector<WorkerId> silent;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[i];
    const Nanoseconds limit =
        std::max(patience_.gone, std::min(4 * member.longest_gap, 4 * patience_.gone));
    if (member.standing != Standing::here || now - member.heard <= limit) continue;
    stand(worker_id(i), Standing::silent, now);
    silent.push_back(worker_id(i));
  }
  return silent;
}

std::vector<WorkerId> Membership::here() const {
  std::vector<WorkerId> here;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].standing == Standing::here) here.push_back(worker_id(i));
  return here;
}

bool Membership::is_eldest() const {
  return std::none_of(members_.begin() + 1, members_.end(), [this](const Member& m) {
    const bool may_live = m.standing == Standing::here || m.standing == Standing::silent;
    return may_live && is_elder(m.record, me());
  });
}

bool Membership::is_cut_off() const {
  std::size_t seen = 0, unseen = 0;
  const Member* eldest = nullptr;
  for (const Member& m : members_) {
    if (m.standing != Standing::here && m.standing != Standing::silent) continue;
    ++(m.standing == Standing::here ? seen : unseen);
    if (!eldest || is_elder(m.record, eldest->record)) eldest = &m;
  }
  if (seen == unseen) return eldest->standing == Standing::silent;
  return seen < unseen;
}

}  // namespace dasgd::elastic
