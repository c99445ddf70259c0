// What leaves over a link, and when.
#include <algorithm>
#include <utility>

#include "dasgd/core/packing.hpp"
#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"
#include "dasgd/transport/pending.hpp"

namespace dasgd::elastic {

namespace {

constexpr std::size_t most_summed = 64 << 20;  // bytes for one message, while others wait

}  // namespace

void Protocol::offer(Link& link, const Parcel& parcel, Nanoseconds now) {
  parcel.for_each([&](const GradientFacts& g) { link.offered.insert(g.name); });
  ++link.sent;
  ++sent_.messages;
  ++sent_to_[link.member].messages;
  sent_to_[link.member].gradients += parcel.size();
  if (parcel.first_name().origin == Membership::self) chooser_.sent(parcel.size(), now);
  const auto packed = [&](std::size_t bytes) {
    return std::make_shared<const Bytes>(pack(parcel.numbers(), bytes));
  };
  if (parcel.bundle) {
    const auto body = packed(sum_bytes(options_.format));
    return transmit(link, BundleMessage{parcel.bundle->facts(), options_.format}, std::span(*body),
                    body);
  }
  const Gradient& gradient = *parcel.gradient;
  const GradientMessage message{gradient, gradient.update.shift, options_.format};
  if (options_.packs || chooser_.format() != MessageFormat::full) {
    const auto body = packed(number_bytes(options_.format));
    if (body->size() < options_.update_bytes())
      return transmit(link, message, std::span(*body), body);
  }
  transmit(link, message, gradient.update.bytes(), parcel.gradient);
}

// A newcomer's model has all of it: what went before would only delay that, and so would what a
// newcomer passes on.
bool Protocol::is_to_stream(const Link& link) const {
  if (!link.open || !link.heard_report || link.behind || link.goodbye) return false;
  return joined() && (link.served || members_[link.member].record.joined);
}

// Whoever has a link to an origin gets its gradients from there, however thin that link is.
bool Protocol::repairs(const Link& link, const Log::Entry& entry, Nanoseconds now) const {
  const WorkerId origin = entry.parcel.first_name().origin;
  const bool gets_it =
      std::find(link.linked.begin(), link.linked.end(), origin) != link.linked.end();
  const Nanoseconds patience = gets_it ? options_.await_origin() : options_.repair_after;
  return entry.since + patience <= now;
}

// What is known there or on its way in part cannot be sent: that member will ask for a model.
bool Protocol::is_wanted(const Link& link, const Parcel& parcel) {
  bool wanted = true;
  parcel.for_each(
      [&](const GradientFacts& g) { wanted = wanted && !link.offered.contains(g.name); });
  return wanted;
}

bool Protocol::has_room(const Link& link) const {
  return link.sent - link.acked < most_under_way() &&
         wires_.queued_bytes(link.id) < options_.most_queued_bytes;
}

// Own gradients that have waited for the link leave as one: a thin link carries fewer and fuller
// messages, and is behind by no more than the one that it carries.
void Protocol::pump(Link& link, Nanoseconds now) {
  if (!is_to_stream(link)) return;
  // Where gradients arrive on several routes, overlapping sums could not be separated.
  const bool folds = link.was_full && !relays_at_once();
  std::vector<Parcel> row;
  std::size_t bytes = 0, length = 0;  // of the row
  const auto ends_row = [&](const Parcel& next) {
    if (row.empty()) return false;
    const GradientName first = row.front().first_name(), name = next.first_name();
    return name.origin != first.origin || name.sequence != first.sequence + length ||
           bytes >= most_summed;
  };
  const auto send_row = [&] {
    if (row.empty()) return;
    Pending sum;
    for (const Parcel& parcel : std::exchange(row, {})) sum.add(parcel);
    bytes = length = 0;
    offer(link, sum.take(), now);
  };
  link.quick = log().visit_from(link.quick, [&](const Log::Entry& entry) {
    if (!entry.at_once || !is_wanted(link, entry.parcel)) return true;
    if (ends_row(entry.parcel)) send_row();
    if (row.empty() && !has_room(link)) return false;
    row.push_back(entry.parcel);
    bytes += entry.parcel.size_in_bytes();
    length += entry.parcel.size();
    if (!folds) send_row();
    return true;
  });
  send_row();
  link.was_full = !has_room(link);
  link.slow = log().visit_from(link.slow, [&](const Log::Entry& entry) {
    if (!is_wanted(link, entry.parcel)) return true;
    if (!repairs(link, entry, now) || !has_room(link)) return false;
    offer(link, entry.parcel, now);
    return true;
  });
}

// On the network's thread: the worker's must not touch links.
void Protocol::serve_all_who_wait(Nanoseconds now) {
  if (!std::exchange(snapshot_is_new_, false)) return;
  for (auto& [id, link] : links_) {
    if (!link->open || !link->wants_model) continue;
    if (snapshot_ && log().has_all_of(names().without(snapshot_->names).without(link->reported))) {
      serve(*link, *snapshot_, now);
    } else {
      wants_snapshot_ = true;  // it asked meanwhile
    }
  }
}

void Protocol::pump(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(not_looked_at_, 0) >=
      std::min<std::uint64_t>(most_under_way(), most_unreported()))
    inbox_.wake();
  report_news(now);
  serve_all_who_wait(now);
  for (auto& [id, link] : links_) pump(*link, now);
}

}  // namespace dasgd::elastic
