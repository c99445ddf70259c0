// What comes and leaves over a link, and when.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

void Protocol::own(GradientPtr gradient, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  takeover_.corrected();
  cut_.computed();
  ++counts_.not_looked_at;
  holdings_.add_own(std::move(gradient), now);
  check_budget(now);
  if (++counts_.unreported >= most_unreported()) counts_.has_news = true;
}

std::optional<std::span<std::byte>> Protocol::body(LinkId id, std::span<const std::byte> header,
                                                   std::uint64_t bytes, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  MemberLink* const found = links_.find(id);
  if (!found) return std::nullopt;
  MemberLink& link = *found;
  heard_on(link, now);
  auto message = decode(header, link.names, roster_);
  members_.grow();
  if (!message) return std::nullopt;
  return link.incoming.begin(std::move(*message), bytes, {link.open, link.asked}, options_, *pool_);
}

void Protocol::received(LinkId id, std::span<const std::byte> header, Nanoseconds now) {
  bool to_fold = false;
  {
    const std::lock_guard lock(mutex_);
    take_frame(id, header, now);
    report_news(now);
    to_fold = counts_.not_folded >= windows_.most_unfolded();
    if (to_fold) counts_.not_folded = 0;
  }
  if (to_fold) inbox_.fold([](const Gradient&) { return true; }, [](const auto&) {});
}

void Protocol::take_frame(LinkId id, std::span<const std::byte> header, Nanoseconds now) {
  MemberLink* const found = links_.find(id);
  if (!found) return;
  MemberLink& link = *found;
  auto message = link.incoming.take_message();
  if (!message) {
    message = decode(header, link.names, roster_);
    members_.grow();
  }
  heard_on(link, now);
  const bool is_hello = message && std::holds_alternative<Hello>(*message);
  if (!message || is_hello == link.open) return disconnect(id, now);
  handle(link, std::move(*message), now);
}

void Protocol::on(MemberLink& link, Report& report, Nanoseconds now) {
  if (report.held.size() > 0) holdings_.note(report.held);
  link.stream.hear(report, names(), now);
  members_[link.member].reported = link.stream.reported();
  for (Record& record : report.records) hear(link, record, now);
  link.card = report.card;
  link.is_edge_there =
      std::find(report.edges.begin(), report.edges.end(), Membership::self) != report.edges.end();
  if (has_tree() &&
      (tree_.take(report.places, link.member, log().end()) || tree_.draw(log().end())))
    counts_.has_news = true;
  holdings_.count_missing();
  check_budget(now);
  link.stream.catch_up(holdings_);
  if (retention_.is_due(now)) collect(now);
  pump(link, now);
  pull(now);
  settle_end(now);
  if (end_.is_over()) inbox_.wake();  // the comparison of digests waits for this
}

void Protocol::on_parcel(MemberLink& link, Nanoseconds now) {
  const Parcel parcel = link.incoming.take_parcel(options_.format);
  if (!parcel) return disconnect(link.id, now);
  link.stream.came(parcel);
  ++link.taken;
  const bool passes_on = windows_.relays_at_once() || is_edge(link);
  admit(parcel, passes_on, now);
  if (link.taken - link.acks_sent >= windows_.most_under_way() / 4) report_to(link, now);
  if (passes_on)
    for (auto& [id, other] : links_) pump(other, now);
}

void Protocol::admit(Parcel parcel, bool passes_on, Nanoseconds now) {
  if (!holdings_.is_new(parcel)) {
    parcel = tree_.exists() ? holdings_.rest_of(parcel) : Parcel();
    if (!parcel) return holdings_.drop_copy();
  }
  parcel.for_each([&](const GradientFacts& g) { holdings_.note(g.compute_set); });
  if (end_.admits_nothing()) return end_.hold_back(std::move(parcel));
  holdings_.add(parcel, now, passes_on);
  if (joined()) {  // before, it becomes part of the first model, without a staleness
    inbox_.deliver(std::move(parcel), 0);
    counts_.not_folded = inbox_.depth() > windows_.most_unfolded() ? counts_.not_folded + 1 : 0;
  }
  check_budget(now);
}

void Protocol::on_want(MemberLink& link, Nanoseconds now) {
  link.stream.want_model();
  if (const Model* model = snapshots_.fit_for({}, holdings_)) return serve(link, *model, now);
  inbox_.wake();
}

void Protocol::serve(MemberLink& link, const Model& model, Nanoseconds now) {
  link.stream.serve(model.names);
  links_.send(link, Snapshot{model.names, model.samples, options_.format}, std::span(*model.sums),
              model.sums);
  pump(link, now);
}

void Protocol::on_snapshot(MemberLink& link, Snapshot& snapshot, Nanoseconds now) {
  auto sums = link.incoming.take_sums();
  link.asked = false;
  holdings_.note(snapshot.names);
  const bool is_late = joined() && takeover_.pulling() != link.id;  // somebody else was asked
  if (end_.is_over() || is_late) return;
  takeover_.offer({std::move(snapshot.names), snapshot.samples, std::move(sums)}, link.member, now);
  inbox_.wake();
}

void Protocol::report_to(MemberLink& link, Nanoseconds now) {
  link.stream.trust_origins(trusts_origins());
  Record& me = members_.me();
  ++me.version;
  me.t = names().size();
  me.computed = holdings_.announced(Membership::self);
  me.names = me.stopped ? roster_.hash(names()) : Hash{};
  link.stream.take_route(route_of(link));
  link.is_edge_here = tree_.has_edge_to(link.member);
  Report report{names(),
                link.stream.can_stream(holdings_),
                {},
                link.taken,
                links_.members(),
                tree_.drawn(),
                tree_.neighbours(),
                card_.card()};
  link.versions.resize(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Record& record = members_[worker_id(i)].record;
    if (record.version <= link.versions[i]) continue;
    link.versions[i] = record.version;
    report.records.push_back(record);
  }
  link.acks_sent = link.taken;
  link.reported_at = now;
  send_digest(link);
  links_.send(link, report);
  pass_words_on(link);
}

void Protocol::on(const MemberLink& link, ModelDigest& digest, Nanoseconds now) {
  comparison_.hear(link.member, std::move(digest), now);
  inbox_.wake();
}

// Ahead of the report with which the other end may drop what it would have to take off.
void Protocol::send_digest(MemberLink& link) {
  if (std::exchange(link.digests, comparison_.sent()) == comparison_.sent()) return;
  if (members_[link.member].record.joined) links_.send(link, comparison_.own());
}

void Protocol::report_news(Nanoseconds now) {
  if (counts_.has_news) report_to_all(now);
}

void Protocol::report_to_all(Nanoseconds now) {
  counts_.has_news = false;
  counts_.unreported = 0;
  for (auto& [id, link] : links_)
    if (link.open) report_to(link, now);
}

// Whether a member gets one by one what it lacks. One without a link is awaited for a while: it may
// be about to come, or to come back.
bool Protocol::is_awaited(WorkerId number, Nanoseconds now) {
  const Member& member = members_[number];
  if (member.state == MemberState::silent) return false;
  MemberLink* link = links_.to(number);
  if (link && link->stream.has_reported()) {
    const bool is_news = link->stream.fall_behind(holdings_, windows_.most_waiting());
    // A member that has just joined is behind as well.
    if (is_news && link->stream.times_behind() >= 3) warn_of_link(*link, now);
    return !link->stream.is_behind();
  }
  return now - member.apart <= options_.patience.gone &&
         log().size() <= 2 * windows_.most_waiting() && dialer_.wants_link(number);
}

// A model that is taken over now and then brings everything, but late: staleness is what it costs.
void Protocol::warn_of_link(const MemberLink& link, Nanoseconds now) {
  if (moments_.warned_of_links && now - *moments_.warned_of_links < options_.warn_again) return;
  moments_.warned_of_links = now;
  say(now, fmt::format("the link to {} does not keep up at {:.1f} MB/s: gradients arrive late, and "
                       "stale gradients cost accuracy; use larger batches (`batch`) or longer "
                       "gradients (`pace.compute`)",
                       members_.label(link.member), link.bytes_per_second * 1e-6));
}

// Whether some link will be served by a model, not one by one: what is sent meanwhile is on both
// sides of a difference between models, and has to be taken off it.
bool Protocol::is_merging() const {
  return takeover_.pulling() || std::any_of(links_.begin(), links_.end(), [&](const auto& l) {
           return l.second.open && l.second.stream.is_merging(holdings_);
         });
}

void Protocol::want_copy() {
  retention_.want_copy();
  inbox_.wake();
}

void Protocol::collect(Nanoseconds now) {
  retention_.begin(now);
  if (!joined()) return;
  std::vector<const GradientSet*> awaited;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    if (!members_.may_be_alive(worker_id(i))) continue;
    const bool was_in_sight = std::exchange(member.in_sight, is_awaited(worker_id(i), now));
    if (member.in_sight) awaited.push_back(&member.reported);
    if (member.in_sight ? !was_in_sight && !retention_.copies().empty() : was_in_sight) want_copy();
  }
  const bool is_full = log().size_in_bytes() > windows_.most_bytes_in_log();
  const bool waits = retention_.waits_for_copy() || comparison_.is_waiting();
  if (!is_full && (cut_.is_cut_off() || waits)) return;
  const GradientSet* asked_for = takeover_.is_under_way() ? &takeover_.at_least() : nullptr;
  retention_.drop_unneeded(
      holdings_.log(),
      {awaited, asked_for, is_full, is_merging(), windows_.most_waiting(), has_tree()}, now);
}

// A newcomer's model has all of it: what went before would only delay that, and so would what a
// newcomer passes on.
bool Protocol::is_to_stream(const MemberLink& link) const {
  const LinkStream& stream = link.stream;
  if (!link.open || !stream.has_reported() || stream.is_behind() || link.goodbye) return false;
  return joined() && (stream.is_served() || members_[link.member].record.joined);
}

bool Protocol::trusts_origins() const { return !windows_.relays_at_once() && !end_.is_leaving(); }

// Both ends have to call it one: what comes over it is passed on, and only by whoever knows that.
bool Protocol::is_edge(const MemberLink& link) const {
  return has_tree() && tree_.has_edge_to(link.member) && link.is_edge_there && link.is_edge_here;
}

LinkStream::Route Protocol::route_of(const MemberLink& link) const {
  if (!has_tree()) return {};
  const bool edge = is_edge(link);
  return {true, edge, edge ? tree_.begin(link.member) : 0};
}

void Protocol::pump(MemberLink& link, Nanoseconds now) {
  const bool trusted = trusts_origins();
  link.stream.trust_origins(trusted);
  link.stream.take_route(route_of(link));
  if (!is_to_stream(link)) return;
  link.stream.pump(log(),
                   {.most_under_way = windows_.most_under_way(),
                    // Where gradients arrive on several routes, overlapping sums could not be
                    // separated.
                    .folds = !windows_.relays_at_once(),
                    .repair_after = options_.repair_after,
                    .await_origin = options_.await_origin(trusted),
                    .await_relay = options_.await_lacked(trusted),
                    .has_room =
                        [this, id = link.id] {
                          return wires_.queued_bytes(id) < options_.limits.most_queued_bytes;
                        },
                    .send = [&](const Parcel& parcel) { links_.send(link, parcel, now); }},
                   now);
}

// On the network's thread: the worker's must not touch links.
void Protocol::serve_all_who_wait(Nanoseconds now) {
  if (!snapshots_.take_news()) return;
  for (auto& [id, link] : links_) {
    if (!link.open || !link.stream.wants_model()) continue;
    if (const Model* model = snapshots_.fit_for(link.stream.reported(), holdings_))
      serve(link, *model, now);
  }
}

void Protocol::pump(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(counts_.not_looked_at, 0) >=
      std::min<std::uint64_t>(windows_.most_under_way(), most_unreported()))
    inbox_.wake();
  report_news(now);
  serve_all_who_wait(now);
  for (auto& [id, link] : links_) pump(link, now);
}

}  // namespace dasgd::elastic
