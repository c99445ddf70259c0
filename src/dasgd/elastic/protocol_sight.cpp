// Who is here, who is silent, whom to dial.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

void Protocol::hear(const MemberLink& link, Record& record, Nanoseconds now) {
  const auto before = roster_.find(record.origin);
  if (before && *before == link.member) {
    if (record.digest != Hash{}) members_[*before].record.digest = record.digest;
  } else if (const MemberLink* own = before ? links_.to(*before) : nullptr;
             own && now - own->heard <= options_.patience.suspect) {
    record.digest = members_[*before].record.digest;  // only that member itself reports it
  }
  const bool is_new = !before || members_[*before].state == MemberState::unknown;
  const bool had_left = before && members_[*before].record.left;  // it reports until it is gone
  if (!members_.hear(record, now)) return;
  const WorkerId member = *roster_.find(record.origin);
  holdings_.note(member, static_cast<std::uint32_t>(record.computed));
  dialer_.found(record.address);
  members_.me().early_loss = std::max(members_.me().early_loss, record.early_loss);
  if (is_new && members_.is_here(member))
    say(now, fmt::format("{} joined", members_.label(member)));
  if (record.left && !had_left && !is_new) say(now, fmt::format("{} left", members_.label(member)));
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

void Protocol::pass_words_on(MemberLink& link) {
  link.words.resize(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[worker_id(i)];
    if (member.word_number <= link.words[i] || !members_.is_here(worker_id(i))) continue;
    link.words[i] = member.word_number;
    links_.send(link, Word{roster_.origin(worker_id(i)), member.word_number, member.word});
  }
}

void Protocol::dial_failed(LinkId id, bool refused, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  for (const WorkerId member : dialer_.fail(id, refused, links_, now))
    died(member, now, "no answer at its address");
}

void Protocol::died(WorkerId member, Nanoseconds now, const char* how) {
  Member& m = members_[member];
  const bool was_here = m.state == MemberState::here || m.state == MemberState::silent;
  if (!was_here && m.state != MemberState::unknown) return;
  // Without a word before its death it may have worked with others whom we have not met.
  if (m.in_sight && now - m.heard > options_.late_report()) want_copy();
  members_.set_state(member, MemberState::dead, now);
  m.dial_at = now + options_.patience.gone;
  if (was_here) say(now, fmt::format("{} is dead: {}", members_.label(member), how));
}

void Protocol::find_cut(Nanoseconds now) {
  for (const WorkerId member : members_.find_silent(now)) {
    say(now, fmt::format("{} is silent", members_.label(member)));
    if (const MemberLink* link = links_.to(member)) disconnect(link->id, now);
  }
  drop_links_without_hello(now);
  update_cut_state(now);
}

void Protocol::drop_links_without_hello(Nanoseconds now) {
  std::vector<LinkId> late;
  for (const auto& [id, link] : links_)
    if (!link.open && now - link.since > options_.patience.gone) late.push_back(id);
  for (const LinkId id : late) {
    dialer_.settle(id);
    disconnect(id, now);
  }
}

void Protocol::update_cut_state(Nanoseconds now) {
  const bool was_cut_off = cut_.is_cut_off();
  const char* text = cut_.update(joined() && members_.is_cut_off(now),
                                 members_.has_unseen_members(), options_.late_report(), now);
  if (text) say(now, text);
  if (was_cut_off && !cut_.is_cut_off()) inbox_.wake();
}

// By the oldest: where neighbours do not reach each other, and where a card is too slow for its
// place. True if this member has other neighbours than before.
bool Protocol::change_tree(Nanoseconds now) {
  if (tree_.draw(log().end())) return true;
  const auto are_linked = [this](WorkerId a, WorkerId b) {
    const MemberLink *to_a = links_.to(a), *to_b = links_.to(b);
    if (a == Membership::self || b == Membership::self) return to_a || to_b;
    const bool is_known = to_a || to_b;
    return !is_known || (to_a && to_a->stream.is_linked_to(b)) ||
           (to_b && to_b->stream.is_linked_to(a));
  };
  if (tree_.mend(are_linked, now, options_.patience.suspect, log().end())) return true;
  const auto card_of = [this](WorkerId member) {
    if (member == Membership::self) return card_.card();
    const MemberLink* link = links_.to(member);
    return link ? link->card : Card{};
  };
  const auto change = tree_.find_slow(card_of, are_linked, now, options_.patience.gone);
  if (!change) return false;
  say(now, fmt::format("{} takes the place of {} in the tree, whose network card is slower",
                       members_.label(change->leaf), members_.label(change->relay)));
  return tree_.make(*change, log().end());
}

void Protocol::watch_card() {
  std::size_t edges = 0, full = 0;
  for (const auto& [id, link] : links_) {
    if (!link.open || !is_edge(link)) continue;
    ++edges;
    full += link.stream.is_full() ? 1 : 0;
  }
  card_.look(edges, full);
}

void Protocol::tick(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (!moments_.begun) moments_.begun = moments_.ticked = now;
  if (const Nanoseconds late = now - moments_.ticked - options_.late_report(); late > 0)
    members_.ignore_gap(late);
  moments_.ticked = now;
  links_.tick(now);
  if (!has_first_model() && !model_is_coming() && now - *moments_.begun > options_.give_up_after)
    give_up(links_.has_open()
                ? "members answer but send no model; they send it between two of their steps"
                : "no member could be reached");
  find_cut(now);
  if (has_tree() && change_tree(now)) counts_.has_news = true;
  dialer_.dial(links_, now);
  if (!retention_.copies().empty())
    retention_.drop_old_copies(members_.has_unseen_members() || is_merging(), now);
  comparison_.tick(joined() && members_.is_oldest_here() && members_.count_here() > 1, now);
  collect(now);
  report_news(now);
  for (auto& [id, link] : links_) {
    if (!link.open) continue;
    // Onto a busy link beside a tree no more of them than it takes for a sign of life.
    const bool is_beside = has_tree() && !is_edge(link) && wires_.queued_bytes(id) > 0;
    if (now - link.reported_at >=
        (is_beside ? options_.patience.suspect / 2 : options_.report_every))
      report_to(link, now);
    pump(link, now);
  }
  watch_card();
  measure(now);
  pull(now);
  snapshots_.expire(now);
  settle_end(now);
}

void Protocol::measure(Nanoseconds now) {
  const double seconds = links_.measure(now);
  if (seconds == 0) return;
  std::uint64_t queued = 0;
  for (const auto& [id, link] : links_) queued += wires_.queued_bytes(id);
  card_.measure(links_.sent().bytes, queued, seconds);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    const std::uint32_t announced = holdings_.announced(worker_id(i));
    member.rate = static_cast<double>(announced - member.reported_before) / seconds;
    member.reported_before = announced;
  }
}

}  // namespace dasgd::elastic
