#include "dasgd/elastic/end_agreement.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <xxhash.h>

namespace dasgd::elastic {

bool EndAgreement::begin(StopReason why, Nanoseconds now) {
  if (ending()) return false;
  members_.me().ending = why;
  since_ = now;
  return true;
}

bool EndAgreement::stop(Nanoseconds now) {
  if (std::exchange(members_.me().stopped, true)) return false;
  since_ = std::max(since_, now);
  return true;
}

void EndAgreement::give_up(std::string why) {
  could_not_join_ = std::move(why);
  over_ = true;
}

void EndAgreement::miss(std::uint64_t own_gradients) {
  too_late_ = std::max(too_late_, own_gradients);
  missed_ = true;
}

std::vector<Parcel> EndAgreement::reopen() {
  members_.me().ready = {};
  ready_with_.clear();
  return std::exchange(held_back_, {});
}

EndAgreement::Step EndAgreement::agree() {
  over_ = members_.me().ended = true;
  agreed_ = !missed_;
  return Step::over;
}

Hash EndAgreement::ready_hash(const std::vector<WorkerId>& with, const Hash& names) const {
  std::vector<Origin> origins;
  for (const WorkerId m : with) origins.push_back(roster_.origin(m));
  std::sort(origins.begin(), origins.end());
  ByteWriter bytes;
  bytes.array(std::span<const Origin>(origins));
  bytes.number(names);
  const XXH128_hash_t hash = XXH3_128bits(bytes.bytes().data(), bytes.bytes().size());
  return {hash.high64 | 1, hash.low64};  // never the one that means nothing
}

EndAgreement::Step EndAgreement::settle_leaving(const Holding& held, Nanoseconds now) {
  // What comes from now on, others have from each other.
  if (!handed_over_) handed_over_ = held.names;
  const bool waits = members_.me().joined && now - since_ < options_.patience.gone;
  if (waits && !held.others_hold(*handed_over_)) return Step::wait;
  over_ = members_.me().left = true;
  return Step::over;
}

EndAgreement::Step EndAgreement::settle(const Holding& held, Nanoseconds now) {
  if (over_ || !has_stopped() || held.takeover.is_to_correct()) return Step::wait;
  if (leaving_ && !ending()) return settle_leaving(held, now);
  Record& me = members_.me();
  const auto here = members_.here();
  if (!ending()) {
    const bool all_stopped = std::all_of(here.begin(), here.end(),
                                         [&](WorkerId m) { return members_[m].record.stopped; });
    return all_stopped && me.joined ? Step::begin : Step::wait;
  }
  const Hash names = roster_.hash(held.names);
  // A member that has ended had a report from every member; one that holds the same set needs no
  // other.
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& m = members_[worker_id(i)];
    if (m.state == MemberState::ended && m.record.names == names) return agree();
  }
  const bool patient = now - since_ < options_.await_stop();
  std::vector<WorkerId> with;
  for (const WorkerId m : here) {
    const Record& r = members_[m].record;
    if (m == Membership::self || (r.stopped && r.names == names)) {
      with.push_back(m);
      continue;
    }
    if (!r.stopped && !patient) continue;  // it computes for too long: its last one comes too late
    if (!is_ready()) return Step::wait;
    const bool counted_on =
        std::find(ready_with_.begin(), ready_with_.end(), m) != ready_with_.end();
    if (counted_on) return Step::reopen;  // the others came back after this one was ready
  }
  const Hash ready = ready_hash(with, names);
  if (me.ready != ready) {
    if (held.takeover.offered() || (held.takeover.pulling() && !is_ready())) return Step::wait;
    me.ready = ready;
    ready_with_ = with;
    return Step::announce;
  }
  const bool all_ready = std::all_of(with.begin(), with.end(),
                                     [&](WorkerId m) { return members_[m].record.ready == ready; });
  return all_ready ? agree() : Step::wait;
}

void EndAgreement::compare(const Hash& digest, Nanoseconds now) {
  members_.me().digest = digest;
  compared_at_ = now;
}

bool EndAgreement::has_compared(const GradientSet& held, Nanoseconds now) const {
  if (!agreed_ || now - compared_at_ > options_.await_digests()) return true;
  const Hash names = roster_.hash(held);
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& m = members_[worker_id(i)];
    const bool will_report =
        m.state == MemberState::here || (m.state == MemberState::ended && !m.link_broken);
    if (will_report && m.record.names == names && m.record.digest == Hash{}) return false;
  }
  return true;
}

}  // namespace dasgd::elastic
