// The worker's side: what it takes and gives, what it does between two steps, and the end.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/protocol.hpp"
#include "dasgd/run/choose_links.hpp"

namespace dasgd::elastic {

bool Protocol::may_compute() const {
  const std::lock_guard lock(mutex_);
  if (!joined() || end_.ending() || takeover_.offered() || retention_.wants_copy() ||
      snapshots_.is_wanted())
    return false;
  if (counts_.not_looked_at >=
      std::min<std::uint64_t>(windows_.most_under_way(), most_unreported()))
    return false;
  return cut_.may_compute(options_.limits.in_flight);
}

std::optional<MessageFormat> Protocol::chosen_format() const {
  const std::lock_guard lock(mutex_);
  return options_.chooses_message ? std::optional(links_.chooser().format()) : std::nullopt;
}

std::string Protocol::format_reason() const {
  const std::lock_guard lock(mutex_);
  return options_.chooses_message ? reason_of_message(links_.chooser().waited()) : "";
}

void Protocol::note_early_loss(double size) {
  const std::lock_guard lock(mutex_);
  Record& me = members_.me();
  me.early_loss = std::max(me.early_loss, size);
}

Task Protocol::next_task(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (inbox_.depth() > 0) return {};  // first all that is held is applied
  if (takeover_.offered()) return adopt_offered(now);
  retention_.use_last_copy(holdings_, now);
  if (!retention_.wants_copy() && !snapshots_.is_wanted()) {
    auto beyond = joined() && !end_.ending() ? comparison_.begin(holdings_) : std::nullopt;
    return beyond ? Task(TakeDigest{std::move(*beyond)}) : Task();
  }
  retention_.begin_copy();
  for (auto& [id, link] : links_)
    if (link.stream.wants_model()) link.stream.promise(names());
  return CopyModel{names()};
}

Task Protocol::adopt_offered(Nanoseconds now) {
  auto adoption = takeover_.decide(holdings_, retention_.copies(), now);
  if (!adoption) return {};
  const std::string from = members_.label(takeover_.from());
  if (!joined()) {
    members_.me().joined = true;
    members_.me().joined_at = adoption->names.size();
    say(now, fmt::format("joined at step {}, with the model of {}", adoption->names.size(), from));
    update_cut_state(now);
  } else {
    say(now, fmt::format("adopted the model of {}: {} more gradients, {} kept", from,
                         adoption->names.count_missing_from(names()),
                         names().count_missing_from(adoption->from.names)));
  }
  holdings_.adopt(*adoption);
  if (adoption->abandoned.size() > 0) {
    say(now, fmt::format("{} gradients are abandoned", adoption->abandoned.size()));
    retention_.keep_within(names());
  }
  links_.report_soon();
  check_budget(now);
  return std::move(*adoption);
}

void Protocol::cannot_correct() {
  const std::lock_guard lock(mutex_);
  takeover_.corrected();
}

void Protocol::remember(Model before, Model after, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  retention_.remember(std::move(before), std::move(after), names(), now);
}

void Protocol::copied(Model model, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  retention_.copied(model, log(), now);
  snapshots_.made(std::move(model), now);
}

void Protocol::digest_taken(const Hash& digest, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto other = comparison_.end(digest);
  if (!other) return;
  comparison_.note_difference(
      fmt::format("with the same {} gradients this member's model has the digest {}, that of {} {}",
                  other->of_other.names.size(), digest.text(), members_.label(other->from),
                  other->of_other.digest.text()));
  say(now, comparison_.difference());
  begin_ending(StopReason::failed, now);
}

bool Protocol::model_is_coming() const {
  return takeover_.pulling() && links_.find(*takeover_.pulling())->incoming.is_model();
}

void Protocol::pull(Nanoseconds now) {
  if (end_.admits_nothing()) return;
  std::vector<Takeover::Giver> givers;
  const Nanoseconds patience = options_.await_lacked(trusts_origins());
  for (auto& [id, link] : links_) {
    if (!link.open || !link.stream.has_reported() || link.goodbye) continue;
    if (!members_[link.member].record.joined) continue;
    // Beside a tree more of what two members have may lie in different sums: neighbours first.
    const bool is_beside = has_tree() && !is_edge(link);
    givers.push_back(
        {id, link.member, &link.stream.reported(),
         link.stream.needs_its_model(names(), now, is_beside ? 2 * patience : patience)});
  }
  const auto asked = takeover_.ask(givers, names(), model_is_coming(), now);
  if (!asked) return;
  MemberLink& link = *links_.find(*asked);
  link.asked = true;
  links_.send(link, Want{});
}

void Protocol::check_budget(Nanoseconds now) {
  if (!end_.ending() && joined() && holdings_.budget_left(options_.budget) == 0)
    begin_ending(StopReason::budget, now);
}

void Protocol::begin_ending(StopReason why, Nanoseconds now) {
  if (!end_.begin(why, now)) return;
  if (why == StopReason::budget) counts_.has_news = true;
  links_.report_soon();
  inbox_.wake();
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
  if (end_.stop(now)) links_.report_soon();
}

std::optional<StopReason> Protocol::ending() const {
  const std::lock_guard lock(mutex_);
  if (end_.is_leaving() && !end_.ending()) return StopReason::left;
  return end_.ending();
}

bool Protocol::has_model() const {
  const std::lock_guard lock(mutex_);
  return has_first_model();
}

void Protocol::give_up(std::string why) {
  end_.give_up(std::move(why));
  inbox_.wake();
}

std::string Protocol::forget(const std::string& who, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  std::vector<WorkerId> found;
  std::string origins, gone;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[worker_id(i)];
    const std::string origin = member.record.origin.text();
    if (member.record.name != who && origin != who) continue;
    if (member.state == MemberState::dead) gone = who + " is already dead";
    if (member.state == MemberState::left) gone = who + " has left";
    if (member.state != MemberState::here && member.state != MemberState::silent) continue;
    found.push_back(worker_id(i));
    origins += (origins.empty() ? "" : ", ") + origin;
  }
  if (found.empty())
    return gone.empty() ? fmt::format("no member has the name or origin \"{}\"", who) : gone;
  if (found.size() > 1)
    return fmt::format("several members are called {}; name one by its origin: {}", who, origins);
  const WorkerId one = found.front();
  if (one == Membership::self) return who + " is this member itself; use dasgd leave";
  const Member& member = members_[one];
  if (member.state == MemberState::here && !member.link_broken &&
      now - member.heard <= options_.patience.suspect)
    return who + " is here: only a silent member can be forgotten";
  if (const MemberLink* link = links_.to(one)) disconnect(link->id, now);
  died(one, now, "declared dead by dasgd forget");
  return {};
}

void Protocol::settle_end(Nanoseconds now) {
  using Step = EndAgreement::Step;
  const auto others_hold = [this](const GradientSet& names) {
    return std::all_of(links_.begin(), links_.end(), [&](const auto& l) {
      const MemberLink& link = l.second;
      return !link.open || link.stream.is_behind() ||
             names.count_missing_from(link.stream.reported()) == 0;
    });
  };
  const EndAgreement::Holding held{names(), takeover_, others_hold};
  while (true) {
    switch (end_.settle(held, now)) {
      case Step::begin:
        begin_ending(StopReason::samples, now);
        break;
      case Step::announce:
        report_to_all(now);
        break;
      case Step::reopen:
        for (Parcel& parcel : end_.reopen())
          admit(std::move(parcel), windows_.relays_at_once() || has_tree(), now);
        return;
      case Step::over:
        if (members_.me().ended)
          takeover_.withdraw();  // what all agreed on is not changed any more
        return inbox_.wake();
      case Step::wait:
        return;
    }
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
  links_.report_soon();
}

bool Protocol::has_compared(Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  return closed_ || end_.has_compared(names(), now);
}

}  // namespace dasgd::elastic
