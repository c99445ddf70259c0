// Who is here, who is silent, whom to dial.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
namespace {

// At once: whoever joins learns of all members there ever were.
constexpr std::size_t most_dialed = 64;

}  // namespace

void Protocol::hear(const Link& link, Record& record, Nanoseconds now) {
  const auto before = roster_.find(record.origin);
  if (before && *before == link.member) {
    if (record.digest != Hash{}) members_[*before].record.digest = record.digest;
  } else if (const Link* own = before ? link_to(*before) : nullptr;
             own && now - own->heard <= options_.patience.suspect) {
    record.digest = members_[*before].record.digest;  // only that member itself reports it
  }
  const bool is_new = !before || members_[*before].state == MemberState::unknown;
  if (!members_.hear(record, now)) return;
  const WorkerId member = *roster_.find(record.origin);
  holdings_.note(member, static_cast<std::uint32_t>(record.computed));
  contacts_.erase(record.address);
  members_.me().early_loss = std::max(members_.me().early_loss, record.early_loss);
  if (is_new && members_.is_here(member)) say(now, fmt::format("{} joined", label(member)));
  if (record.left && !is_new) say(now, fmt::format("{} left", label(member)));
  if (record.ending && !end_.ending() && !record.left) begin_ending(*record.ending, now);
}

void Protocol::announce(std::string word) {
  const std::lock_guard lock(mutex_);
  Member& me = members_[Membership::self];
  me.word = std::move(word);
  ++me.word_number;
}

std::vector<std::string> Protocol::words() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> words;
  for (const WorkerId member : members_.by_age())
    if (members_[member].word_number > 0) words.push_back(members_[member].word);
  return words;
}

// Its record has come before it: a report goes ahead of words.
void Protocol::on(const Word& word) {
  const auto member = roster_.find(word.origin);
  if (!member || *member == Membership::self) return;
  Member& m = members_[*member];
  if (word.number <= m.word_number) return;
  m.word = word.text;
  m.word_number = word.number;
}

void Protocol::pass_words_on(Link& link) {
  link.words.resize(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[worker_id(i)];
    if (member.word_number <= link.words[i] || !members_.is_here(worker_id(i))) continue;
    link.words[i] = member.word_number;
    transmit(link, Word{roster_.origin(worker_id(i)), member.word_number, member.word});
  }
}

void Protocol::dial_failed(LinkId id, bool refused, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto at = dialing_.find(id);
  if (at == dialing_.end()) return;
  const std::string address = std::move(at->second);
  dialing_.erase(at);
  if (contacts_.contains(address) && !has_links())
    contacts_[address] = now + options_.redial_contact();
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    if (member.record.address != address || link_to(worker_id(i))) continue;
    if (member.state == MemberState::dead) continue;  // when to call it again is settled
    member.dial_pause = std::clamp(2 * member.dial_pause, options_.patience.first_dial,
                                   options_.patience.slowest_dial);
    member.dial_at = now + member.dial_pause;
    const bool fresh = !member.link_broken && member.state != MemberState::unknown &&
                       now - member.heard < options_.patience.suspect;
    // Nobody at an address that it may have guessed wrong proves nothing.
    const bool counts = member.address_is_right || member.state == MemberState::unknown;
    if (refused && counts && !fresh) died(worker_id(i), now, "no answer at its address");
  }
}

void Protocol::died(WorkerId member, Nanoseconds now, const char* how) {
  Member& m = members_[member];
  const bool was_here = m.state == MemberState::here || m.state == MemberState::silent;
  if (!was_here && m.state != MemberState::unknown) return;
  // Without a word before its death it may have worked with others whom we have not met.
  if (m.in_sight && now - m.heard > options_.late_report()) want_copy();
  members_.set_state(member, MemberState::dead, now);
  m.dial_at = now + options_.patience.gone;
  if (was_here) say(now, fmt::format("{} is gone: {}", label(member), how));
}

bool Protocol::wants_link(WorkerId member) const {
  const auto here = members_.here();
  if (here.size() <= options_.most_in_mesh) return true;
  // Everybody chooses some by a number that only the pair has.
  const auto weight = [this](WorkerId m) {
    const Origin& a = options_.origin;
    const Origin& b = roster_.origin(m);
    return (a.low ^ b.high) * 0x9e3779b97f4a7c15ull;
  };
  std::size_t better = 0;
  for (const WorkerId m : here)
    better += m != Membership::self && weight(m) < weight(member) ? 1 : 0;
  return better < options_.links;
}

void Protocol::dial_members(Nanoseconds now) {
  const auto is_dialing = [this](const std::string& address) {
    return std::any_of(dialing_.begin(), dialing_.end(),
                       [&](const auto& d) { return d.second == address; });
  };
  const auto dial = [&](const std::string& address) {
    if (!is_dialing(address)) dialing_[wires_.dial(address)] = address;
  };
  // The members that joined last are the likeliest to be alive.
  for (std::size_t i = members_.size() - 1; i > 0 && dialing_.size() < most_dialed; --i) {
    Member& member = members_[worker_id(i)];
    const bool may_be_alive =
        member.state != MemberState::left && member.state != MemberState::ended;
    if (!may_be_alive || member.record.address.empty() || now < member.dial_at) continue;
    if (link_to(worker_id(i)) || !wants_link(worker_id(i))) continue;
    // Of thousands of dead members hardly any comes back: each is dialed half as often each time.
    const bool dead = member.state == MemberState::dead;
    member.dial_at = now + (dead ? std::clamp(now - member.since, options_.patience.gone,
                                              options_.slowest_dial_of_dead())
                                 : options_.patience.slowest_dial);
    dial(member.record.address);
  }
  // Whoever is there may be on the other side of a cut, and all who know both sides may die.
  const Nanoseconds pause = has_links() ? options_.patience.gone : options_.patience.slowest_dial;
  for (auto& [address, at] : contacts_) {
    if (now < at) continue;
    at = now + pause;
    dial(address);
  }
}

bool Protocol::has_links() const {
  return std::any_of(links_.begin(), links_.end(), [](const auto& l) { return l.second->open; });
}

void Protocol::find_cut(Nanoseconds now) {
  for (const WorkerId member : members_.find_silent(now)) {
    say(now, fmt::format("{} is silent", label(member)));
    if (const Link* link = link_to(member)) disconnect(link->id, now);
  }
  update_cut_state(now);
}

void Protocol::update_cut_state(Nanoseconds now) {
  const bool was_cut_off = std::exchange(cut_off_, joined() && members_.is_cut_off(now));
  if (cut_off_ && !was_cut_off) {
    cut_since_ = now;
    computed_while_cut_ = 0;
  }
  // A member that has just joined sees nobody for a moment, which is not worth a message.
  if (cut_off_ && !reported_cut_ && now - cut_since_ >= options_.late_report()) {
    reported_cut_ = true;
    say(now, "lost contact with half of the members or more: waiting for them");
  }
  if (cut_off_ || !was_cut_off) return;
  if (std::exchange(reported_cut_, false))
    say(now, members_.has_unseen_members() ? "continuing without the silent members"
                                           : "no longer cut off");
  inbox_.wake();
}

// Nobody will come with another branch any more once all are here and have everything one by one.
void Protocol::drop_old_copies(Nanoseconds now) {
  if (copies_.empty()) return;
  if (members_.has_unseen_members() || is_merging()) unsettled_at_ = now;
  // Some members may be joining that only members now dead knew.
  if (now - unsettled_at_ > options_.await_strangers()) copies_.clear();
}

void Protocol::tick(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (!begun_) begun_ = ticked_at_ = now;
  if (const Nanoseconds late = now - ticked_at_ - options_.late_report(); late > 0)
    members_.ignore_gap(late);
  ticked_at_ = now;
  const bool model_is_coming = pulling_ && links_.at(*pulling_)->sums;
  if (!joined() && !offered_model_ && !model_is_coming && now - *begun_ > options_.give_up_after)
    give_up(has_links()
                ? "members answer but send no model; they send it between two of their steps"
                : "no member could be reached");
  find_cut(now);
  dial_members(now);
  drop_old_copies(now);
  collect(now);
  report_news(now);
  for (auto& [id, link] : links_) {
    if (!link->open) continue;
    if (now - link->reported_at >= options_.report_every) report_to(*link, now);
    pump(*link, now);
  }
  measure(now);
  pull(now);
  if (snapshot_ && now - snapshot_at_ > options_.keep_snapshot) snapshot_.reset();
  settle_end(now);
}

void Protocol::measure(Nanoseconds now) {
  if (now - measured_at_ < options_.measure_every) return;
  const double seconds = static_cast<double>(now - measured_at_) * 1e-9;
  for (auto& [id, link] : links_) {
    link->bytes_per_second = static_cast<double>(link->bytes - link->bytes_before) / seconds;
    link->bytes_before = link->bytes;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    const std::uint32_t announced = holdings_.announced(worker_id(i));
    member.rate = static_cast<double>(announced - member.reported_before) / seconds;
    member.reported_before = announced;
  }
  measured_at_ = now;
}

}  // namespace dasgd::elastic
