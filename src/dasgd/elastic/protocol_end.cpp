// The end of a run: its budget, and the agreement of all who are there.
#define XXH_INLINE_ALL
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <xxhash.h>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
// On a thin link a gradient may take long to arrive.
void Protocol::count_missing_here() {
  std::vector<std::uint64_t> here(announced_.size());
  for (const GradientSet* const set : {&held_, &abandoned_})
    set->for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      if (index(o) < here.size()) here[index(o)] += last - first;
    });
  missing_here_ = 0;
  for (std::size_t i = 1; i < announced_.size(); ++i)
    if (announced_[i] > here[i] && may_bring(worker_id(i)))
      missing_here_ += announced_[i] - here[i];
}

// Whether gradients of this member that are not here can still arrive.
bool Protocol::may_bring(WorkerId origin) const {
  if (origin == Membership::self || index(origin) >= members_.size()) return false;
  return members_.is_here(origin) && !members_[origin].link_broken;
}

// Gradients that there is room for, as far as this member knows.
std::uint64_t Protocol::budget_left() const {
  const auto left_of = [](std::uint64_t all, std::uint64_t made) {
    return all - std::min(all, made);
  };
  const auto& [gradients, samples] = options_.budget;
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  if (gradients) left = left_of(*gradients, held_.size() + missing_here_);
  if (!samples) return left;
  const std::uint64_t each =
      std::max<std::uint64_t>(1, samples_ / std::max<std::uint64_t>(1, held_.size()));
  const std::uint64_t samples_left = left_of(*samples, samples_ + missing_here_ * each);
  return std::min(left, samples_left / each + (samples_left % each > 0 ? 1 : 0));
}

// Own gradients that others may not know of: if all make as many at once, a quarter of what is left
// is used up.
std::uint64_t Protocol::most_unreported() const {
  return std::max<std::uint64_t>(
      1, budget_left() / (4 * std::max<std::size_t>(1, members_.count_here())));
}

void Protocol::check_budget(Nanoseconds now) {
  if (!ending_ && joined_ && budget_left() == 0) begin_ending(StopReason::budget, now);
}

void Protocol::begin_ending(StopReason why, Nanoseconds now) {
  if (ending_) return;
  ending_ = why;
  ending_since_ = now;
  members_.me().ending = why;
  if (why == StopReason::budget) has_news_ = true;
  for (auto& [id, link] : links_) link->reported_at = 0;  // to be reported with the next tick
  inbox_.wake();
}

void Protocol::stop_run(StopReason why, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  begin_ending(why, now);
}

void Protocol::leave(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (joined_ && !ending_ && !leaving_) say(now, "leaving");
  leaving_ = true;
  inbox_.wake();
}

void Protocol::stopped(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopped_, true)) return;
  for (auto& [id, link] : links_) link->reported_at = 0;
  ending_since_ = std::max(ending_since_, now);
}

std::optional<StopReason> Protocol::ending() const {
  const std::lock_guard lock(mutex_);
  if (leaving_ && !ending_) return StopReason::left;
  return ending_;
}

bool Protocol::is_first() const {
  const std::lock_guard lock(mutex_);
  return members_.is_first();
}

bool Protocol::is_over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

bool Protocol::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Protocol::give_up(std::string why) {
  could_not_join_ = std::move(why);
  over_ = true;
  inbox_.wake();
}

bool Protocol::has_joined() const {
  const std::lock_guard lock(mutex_);
  return joined_;
}

bool Protocol::has_model() const {
  const std::lock_guard lock(mutex_);
  return joined_ || offered_model_;
}

std::string Protocol::could_not_join() const {
  const std::lock_guard lock(mutex_);
  return could_not_join_;
}

std::string Protocol::forget(const std::string& who, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  std::vector<WorkerId> found;
  std::string origins;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[worker_id(i)];
    const std::string origin = member.record.origin.text();
    if (member.record.name != who && origin != who) continue;
    if (member.state != MemberState::here && member.state != MemberState::silent) continue;
    found.push_back(worker_id(i));
    origins += (origins.empty() ? "" : ", ") + origin;
  }
  if (found.empty()) return "no member has that name";
  if (found.size() > 1)
    return fmt::format("several members are called {}; name one by its origin: {}", who, origins);
  const WorkerId one = found.front();
  if (one == Membership::self) return who + " is this member itself; use dasgd leave";
  const Member& member = members_[one];
  if (member.state == MemberState::here && !member.link_broken &&
      now - member.heard <= options_.patience.suspect)
    return who + " is here: only a silent member can be forgotten";
  if (const Link* link = link_to(one)) disconnect(link->id, now);
  died(one, now, "declared dead by dasgd forget");
  return {};
}

Hash Protocol::ready_hash(const std::vector<WorkerId>& with) const {
  std::vector<Origin> origins;
  for (const WorkerId m : with) origins.push_back(roster_.origin(m));
  std::sort(origins.begin(), origins.end());
  ByteWriter bytes;
  bytes.array(std::span<const Origin>(origins));
  bytes.number(roster_.hash(held_));
  const XXH128_hash_t hash = XXH3_128bits(bytes.bytes().data(), bytes.bytes().size());
  return {hash.high64 | 1, hash.low64};  // never the one that means nothing
}

void Protocol::reopen(Nanoseconds now) {
  members_.me().ready = {};
  ready_with_.clear();
  for (Parcel& parcel : std::exchange(held_back_, {})) admit(std::move(parcel), now);
}

// Equality is stable: a message under way carries no name that its sender lacks. Whoever is ready
// admits no new name, and goes back only where somebody whom it counted on says that it holds
// something else; never because of silence, for a silent member may have ended.
void Protocol::settle_end(Nanoseconds now) {
  if (over_ || !stopped_ || is_to_correct_) return;
  Record& me = members_.me();
  if (leaving_ && !ending_) {
    // What comes from now on, others have from each other.
    if (!handed_over_) handed_over_ = held_;
    const bool received = std::all_of(links_.begin(), links_.end(), [&](const auto& l) {
      return !l.second->open || l.second->behind ||
             handed_over_->count_missing_from(l.second->reported) == 0;
    });
    if (!received && joined_ && now - ending_since_ < options_.patience.gone) return;
    me.left = true;
    over_ = true;
    inbox_.wake();
    return;
  }
  if (!ending_) {
    const auto here = members_.here();
    const bool all_stopped = std::all_of(here.begin(), here.end(), [&](WorkerId m) {
      return m == Membership::self || members_[m].record.stopped;
    });
    if (!all_stopped || !joined_) return;
    begin_ending(StopReason::samples, now);  // nobody has any left
  }
  const Hash names = roster_.hash(held_);
  // A member that has ended had a report from every member; one that holds the same set needs no
  // other.
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& m = members_[worker_id(i)];
    if (m.state == MemberState::ended && m.record.names == names) return agree_on_the_end();
  }
  const bool patient = now - ending_since_ < 2 * options_.patience.gone;
  const auto agrees = [&](const Record& r) { return r.stopped && r.names == names; };
  std::vector<WorkerId> with;
  for (const WorkerId m : members_.here()) {
    const Record& r = members_[m].record;
    if (m == Membership::self || agrees(r)) {
      with.push_back(m);
      continue;
    }
    const bool counted_on = me.ready == Hash{} || std::find(ready_with_.begin(), ready_with_.end(),
                                                            m) != ready_with_.end();
    if (!r.stopped && !patient) continue;  // it computes for too long: its last one comes too late
    if (!counted_on) continue;             // it came back after the others were ready
    if (me.ready != Hash{}) reopen(now);
    return;
  }
  if (!held_back_.empty() && with.size() == 1 && me.ready == Hash{}) reopen(now);
  const Hash ready = ready_hash(with);
  if (me.ready != ready) {
    if (offered_model_ || (pulling_ && me.ready == Hash{})) return;
    me.ready = ready;
    ready_with_ = with;
    report_to_all(now);
  }
  const bool all_ready = std::all_of(
      with.begin(), with.end(), [&](WorkerId m) { return members_[m].record.ready == me.ready; });
  if (all_ready) agree_on_the_end();
}

void Protocol::agree_on_the_end() {
  over_ = members_.me().ended = true;
  agreed_ = !missed_the_end_;
  offered_model_.reset();  // what all agreed on is not changed any more
  inbox_.wake();
}

void Protocol::break_off() {
  const std::lock_guard lock(mutex_);
  over_ = closed_ = true;
  inbox_.wake();
}

void Protocol::compare(const Hash& digest, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  members_.me().digest = digest;
  compared_at_ = now;
  for (auto& [id, link] : links_) link->reported_at = 0;
}

bool Protocol::has_compared(Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  if (!agreed_ || closed_ || now - compared_at_ > 4 * options_.patience.gone) return true;
  const Hash names = roster_.hash(held_);
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& m = members_[worker_id(i)];
    const bool will_report =
        m.state == MemberState::here || (m.state == MemberState::ended && !m.link_broken);
    if (will_report && m.record.names == names && m.record.digest == Hash{}) return false;
  }
  return true;
}

}  // namespace dasgd::elastic
