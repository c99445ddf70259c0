// The end of a run: what follows from it for links and for the worker.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

void Protocol::check_budget(Nanoseconds now) {
  if (!end_.ending() && joined() && holdings_.budget_left(options_.budget) == 0)
    begin_ending(StopReason::budget, now);
}

void Protocol::begin_ending(StopReason why, Nanoseconds now) {
  if (!end_.begin(why, now)) return;
  if (why == StopReason::budget) has_news_ = true;
  report_soon();
  inbox_.wake();
}

// With the next tick.
void Protocol::report_soon() {
  for (auto& [id, link] : links_) link->reported_at = 0;
}

void Protocol::stop_run(StopReason why, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  begin_ending(why, now);
}

void Protocol::leave(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (joined() && !end_.ending() && !end_.is_leaving()) say(now, "leaving");
  end_.leave();
  inbox_.wake();
}

void Protocol::stopped(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (end_.stop(now)) report_soon();
}

std::optional<StopReason> Protocol::ending() const {
  const std::lock_guard lock(mutex_);
  if (end_.is_leaving() && !end_.ending()) return StopReason::left;
  return end_.ending();
}

void Protocol::give_up(std::string why) {
  end_.give_up(std::move(why));
  inbox_.wake();
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

void Protocol::settle_end(Nanoseconds now) {
  using Step = EndAgreement::Step;
  const auto others_hold = [this](const GradientSet& names) {
    return std::all_of(links_.begin(), links_.end(), [&](const auto& l) {
      return !l.second->open || l.second->behind ||
             names.count_missing_from(l.second->reported) == 0;
    });
  };
  while (true)
    switch (end_.settle(
        {names(), pulling_.has_value(), offered_model_.has_value(), is_to_correct_, others_hold},
        now)) {
      case Step::begin:
        begin_ending(StopReason::samples, now);
        break;
      case Step::announce:
        report_to_all(now);
        break;
      case Step::reopen:
        for (Parcel& parcel : end_.reopen()) admit(std::move(parcel), now);
        return;
      case Step::over:
        if (members_.me().ended)
          offered_model_.reset();  // what all agreed on is not changed any more
        inbox_.wake();
        return;
      case Step::wait:
        return;
    }
}

void Protocol::break_off() {
  const std::lock_guard lock(mutex_);
  end_.break_off();
  closed_ = true;
  inbox_.wake();
}

void Protocol::compare(const Hash& digest, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  end_.compare(digest, now);
  report_soon();
}

bool Protocol::has_compared(Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  return closed_ || end_.has_compared(names(), now);
}

}  // namespace dasgd::elastic
