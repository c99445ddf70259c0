#include "dasgd/elastic/link_stream.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/transport/pending.hpp"

namespace dasgd::elastic {

void LinkStream::hear(Report& report, const GradientSet& held, Nanoseconds now) {
  // A member that has given names up no longer has what was sent to it.
  const bool shrunk = reported_.count_missing_from(report.held) > 0;
  reported_ = std::move(report.held);
  if (shrunk || !has_reported_) {
    offered_ = reported_;
    restart();
  } else {
    offered_.unite(reported_);
  }
  has_reported_ = true;
  acked_ = report.taken;
  if (linked_ != report.linked) slow_ = late_ = 0;
  linked_ = std::move(report.linked);
  peer_can_stream_ = report.can_stream;
  look_for_holes(now);
  reports_without_stream_ = report.can_stream ? 0 : reports_without_stream_ + 1;
  const std::uint64_t still_lacked = lacked_.count_missing_from(held);
  if (still_lacked > 0 && still_lacked == still_lacked_) return;
  less_since_ = now;
  if (still_lacked == 0) {
    lacked_ = reported_.without(held);
    lacked_since_ = now;
  }
  still_lacked_ = lacked_.count_missing_from(held);
}

void LinkStream::want_model() {
  wants_model_ = true;
  offered_ = reported_;
}

void LinkStream::promise(const GradientSet& names) {
  promised_ = names;
  behind_ = false;
}

void LinkStream::serve(const GradientSet& names) {
  promise(names);
  wants_model_ = false;
  served_ = true;
  offered_.unite(names);
  restart();
}

void LinkStream::catch_up(const Holdings& held) {
  if (!behind_ || !can_stream(held)) return;
  behind_ = false;
  restart();
}

bool LinkStream::fall_behind(const Holdings& held, std::size_t most) {
  const Log& log = held.log();
  if (behind_ || log.size() <= most || held.names().count_missing_from(reported_) <= most ||
      log.names().without(reported_).count_missing_from(promised_) <= most)
    return false;
  ++times_behind_;
  return behind_ = true;
}

bool LinkStream::needs_its_model(const GradientSet& held, Nanoseconds now,
                                 Nanoseconds patience) const {
  return reports_without_stream_ >= enough_reports ||
         (now - (trusts_origins_ ? less_since_ : lacked_since_) > patience &&
          lacked_.count_missing_from(held) > 0);
}

void LinkStream::offer(const Parcel& parcel) {
  parcel.for_each([&](const GradientFacts& g) { offered_.insert(g.name); });
}

// What is known there or on its way in part cannot be sent: that member will ask for a model.
bool LinkStream::wants(const Parcel& parcel) const {
  bool wanted = true;
  parcel.for_each([&](const GradientFacts& g) { wanted = wanted && !offered_.contains(g.name); });
  return wanted;
}

// Whoever has a link to an origin gets its gradients from there, however thin that link is.
bool LinkStream::gets_it_from(WorkerId origin) const {
  return origin != Membership::self && is_linked_to(origin);
}

bool LinkStream::gets_it_from_origins(const Parcel& parcel) const {
  bool all = true;
  parcel.for_each([&](const GradientFacts& g) { all = all && gets_it_from(g.name.origin); });
  return all;
}

bool LinkStream::can_stream(const Holdings& held) const {
  if (route_.in_tree && !route_.at_once) return true;  // that is for its neighbours
  GradientSet lacked_from_here;
  held.names().for_each_range_missing_from(
      offered_, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        if (!trusts_origins_ || !gets_it_from(origin))
          lacked_from_here.insert_range({origin, first, last});
      });
  if (!route_.in_tree) return held.log().has_all_of(lacked_from_here);
  bool all = true;
  lacked_from_here.for_each_range_missing_from(
      {}, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        for (; first < last && all; ++first) {
          const Parcel parcel = held.log().find({origin, first});
          all = parcel && wants(parcel);
        }
      });
  return all;
}

void LinkStream::send(const Parcel& parcel, const Rules& rules) {
  offer(parcel);
  ++sent_;
  rules.send(parcel);
}

// On a tree the gradients of an origin come in order. Those missing below one that is there were
// lost, because the tree has changed or because they came in a sum with something that was there;
// so were those behind it, when none has come for long. They leave as one.
void LinkStream::send_lost(const Log& log, const Rules& rules, Nanoseconds now) {
  const bool none_comes = now - own_seen_at_ > rules.await_relay;
  const bool has_hole = own_seen_ > own_prefix_ && now - hole_since_ >= rules.repair_after;
  if (!(none_comes || has_hole) || !has_room(rules)) return;
  forget_resent(rules, now);
  Pending sum;
  const auto add = [&](GradientName name) {
    const bool is_lost = name.sequence < own_seen_;
    if (!is_lost && (!none_comes || promised_.contains(name))) return;
    if (resent_.contains(name) || resent_before_.contains(name)) return;
    if (now - *log.since(name) < (is_lost ? rules.repair_after : rules.await_relay)) return;
    const Parcel parcel = log.find(name);
    if (parcel.size() > 1) return;  // it was given up here, and came back in a sum
    resent_.insert(name);
    sum.add(parcel);
  };
  log.names().for_each_range_missing_from(
      reported_, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        if (origin != Membership::self) return;
        for (; first < last; ++first) add({origin, first});
      });
  while (!sum.empty()) send(sum.take(), rules);
}

// It is sent again: it came in a sum with something else.
void LinkStream::forget_resent(const Rules& rules, Nanoseconds now) {
  if (now - resent_at_ <= rules.await_relay) return;
  resent_before_ = std::exchange(resent_, {});
  resent_at_ = now;
}

// What nobody else sends there, as its origin is dead, and what is here only in sums of which a
// part is there. The other end may have that part by itself and take it off.
void LinkStream::send_parts(const Log& log, const Rules& rules, Nanoseconds now) {
  if (now - parts_at_ < rules.repair_after) return;
  parts_at_ = now;
  forget_resent(rules, now);
  const Nanoseconds after = route_.at_once ? rules.await_relay / 2 : rules.await_relay;
  log.names().for_each_range_missing_from(
      reported_, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
        if (origin == Membership::self || gets_it_from(origin)) return;
        for (; first < last && has_room(rules); ++first) {
          const GradientName name{origin, first};
          if (promised_.contains(name) || resent_.contains(name) || resent_before_.contains(name) ||
              now - *log.since(name) < after)
            continue;
          const Parcel parcel = log.find(name);
          if (parcel.size() == 1 || wants(parcel)) continue;
          parcel.for_each([&](const GradientFacts& g) { resent_.insert(g.name); });
          send(parcel, rules);
        }
      });
}

// How far own gradients have come there, and since when the first of them is missing.
void LinkStream::look_for_holes(Nanoseconds now) {
  const std::uint32_t prefix = reported_.prefix(Membership::self);
  std::uint32_t seen = prefix;
  for (const NameRange& range : reported_.exceptions())
    if (range.origin == Membership::self) seen = range.last;
  if (seen != own_seen_ || own_seen_at_ == 0) own_seen_at_ = now;
  if (prefix != own_prefix_ || seen == prefix) hole_since_ = now;
  own_prefix_ = prefix;
  own_seen_ = seen;
}

void LinkStream::send_at_once(const Log& log, const Rules& rules) {
  const bool folds = was_full_ && rules.folds;
  std::vector<Parcel> row;
  std::size_t bytes = 0, facts = 0, length = 0;  // of the row
  const auto ends_row = [&](const Parcel& next) {
    if (row.empty()) return false;
    const GradientName first = row.front().first_name(), name = next.first_name();
    const bool goes_on = name.origin == first.origin && name.sequence == first.sequence + length;
    return (!goes_on && !route_.in_tree) || bytes >= most_summed ||
           facts + next.facts_bytes() > most_facts;
  };
  const auto send_row = [&] {
    if (row.empty()) return;
    Pending sum;
    for (const Parcel& parcel : std::exchange(row, {})) sum.add(parcel);
    bytes = facts = length = 0;
    while (!sum.empty()) send(sum.take(), rules);
  };
  quick_ = log.visit_from(std::max(quick_, route_.from), [&](const Log::Entry& entry) {
    if (!entry.at_once || !wants(entry.parcel)) return true;
    if (ends_row(entry.parcel)) send_row();
    if (row.empty() && !has_room(rules)) return false;
    row.push_back(entry.parcel);
    bytes += entry.parcel.size_in_bytes();
    facts += entry.parcel.facts_bytes();
    length += entry.parcel.size();
    if (!folds) send_row();
    return true;
  });
  send_row();
  was_full_ = !has_room(rules);
}

void LinkStream::pump(const Log& log, const Rules& rules, Nanoseconds now) {
  if (route_.in_tree) send_lost(log, rules, now);
  if (route_.in_tree) send_parts(log, rules, now);
  if (route_.at_once) send_at_once(log, rules);
  const auto repair = [&](std::uint64_t& place, bool from_origin, Nanoseconds after) {
    place = log.visit_from(place, [&](const Log::Entry& entry) {
      const bool is_own = entry.parcel.first_name().origin == Membership::self;
      if ((route_.in_tree && is_own) || gets_it_from_origins(entry.parcel) != from_origin ||
          !wants(entry.parcel))
        return true;
      if (entry.since + after > now || !has_room(rules)) return false;
      send(entry.parcel, rules);
      return true;
    });
  };
  const bool is_beside = route_.in_tree && !route_.at_once;
  repair(slow_, false, is_beside ? rules.await_relay : rules.repair_after);
  repair(late_, true, rules.await_origin);
}

}  // namespace dasgd::elastic
