// What a member holds, and how others come to hold it.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/core/packing.hpp"
#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

namespace {

// About: its numbers, what is reported about it, and its set, with a number for each member there
// ever was.
std::uint64_t gradient_bytes(std::size_t update, std::size_t members) {
  return update + 1024 + sizeof(std::uint32_t) * members;
}
constexpr std::uint64_t window_bytes = 8 << 20;  // a link of 100 ms and 80 MB/s is kept full
constexpr std::uint64_t most_small_ones = 4096;  // taken in a moment, however small they are
constexpr std::uint64_t least_under_way = 4;     // however large they are

}  // namespace

// How many gradients fit there.
std::uint64_t Protocol::fit_into(std::uint64_t bytes) const {
  return bytes / gradient_bytes(options_.update_bytes(), members_.size());
}

// What a link may lack before it is behind: what fits, or what members usually have under way where
// there is memory for it; but not less than is under way on it and than others have sent it
// meanwhile.
std::size_t Protocol::most_waiting() const {
  const std::uint64_t here = members_.count_here();
  return std::max(
      {fit_into(options_.most_waiting_bytes), least_under_way + 2 * here,
       std::min(4 * options_.in_flight * here, fit_into(options_.most_kept_bytes) / 3)});
}

// Memory comes before separating branches: what cannot be separated later is given up,
// by name.
bool Protocol::log_is_full() const {
  return log().size() >
         std::max<std::uint64_t>(3 * most_waiting(), fit_into(options_.most_kept_bytes));
}

// What waits for a worker that is behind is folded in rows of this length.
std::size_t Protocol::most_unfolded() const {
  return std::clamp<std::uint64_t>(fit_into(options_.most_waiting_bytes), least_under_way,
                                   std::max<std::uint64_t>(least_under_way, options_.in_flight));
}

// Gradients that have been sent on a link and that the other end has not reported. What has to be
// said of the run waits behind them, in buffers that nobody sees into.
std::size_t Protocol::most_under_way() const {
  return std::clamp<std::uint64_t>(fit_into(window_bytes), least_under_way, most_small_ones);
}

void Protocol::on(Link& link, Report& report, Nanoseconds now) {
  if (report.held.size() > 0) holdings_.note(report.held);
  // A member that has given names up no longer has what was sent to it.
  const bool shrunk = link.reported.count_missing_from(report.held) > 0;
  link.reported = std::move(report.held);
  if (shrunk || !link.heard_report) {
    link.offered = link.reported;
    link.quick = link.slow = 0;
  } else {
    link.offered.unite(link.reported);
  }
  link.heard_report = true;
  link.acked = report.taken;
  link.linked = std::move(report.linked);
  members_[link.member].reported = link.reported;
  link.peer_can_stream = report.can_stream;
  link.reports_without_stream = report.can_stream ? 0 : link.reports_without_stream + 1;
  if (link.lacked.count_missing_from(names()) == 0) {
    link.lacked = link.reported.without(names());
    link.lacked_since = now;
  }
  for (Record& record : report.records) hear(link, record, now);
  holdings_.count_missing();
  check_budget(now);
  if (link.behind && can_stream(link)) {
    link.behind = false;
    link.quick = link.slow = 0;
  }
  if (now - collected_at_ >= options_.collect_every()) collect(now);
  pump(link, now);
  pull(now);
  settle_end(now);
  if (end_.is_over()) inbox_.wake();  // the comparison of digests waits for this
}

void Protocol::on_gradient(Link& link, Nanoseconds now) {
  const auto received = std::exchange(link.gradient, nullptr);
  const Bytes packed = std::exchange(link.packed, {});
  if (!received) return disconnect(link.id, now);
  if (!packed.empty() && !unpack(packed, number_bytes(options_.format), received->update.bytes()))
    return disconnect(link.id, now);
  accept(link, GradientPtr(received), now);
}

void Protocol::on_bundle(Link& link, Nanoseconds now) {
  const auto received = std::exchange(link.bundle, nullptr);
  const Bytes packed = std::exchange(link.packed, {});
  if (!received || !unpack(packed, sum_bytes(options_.format), received->bytes()))
    return disconnect(link.id, now);
  accept(link, BundlePtr(received), now);
}

void Protocol::accept(Link& link, const Parcel& parcel, Nanoseconds now) {
  parcel.for_each([&](const GradientFacts& g) { link.offered.insert(g.name); });
  ++link.taken;
  admit(parcel, now);
  if (link.taken - link.acks_sent >= most_under_way() / 4) report_to(link, now);
  if (relays_at_once())
    for (auto& [id, other] : links_) pump(*other, now);
}

void Protocol::admit(Parcel parcel, Nanoseconds now) {
  if (!holdings_.is_new(parcel)) {
    ++copies_dropped_;
    return;
  }
  parcel.for_each([&](const GradientFacts& g) { holdings_.note(g.compute_set); });
  if (end_.admits_nothing()) return end_.hold_back(std::move(parcel));
  holdings_.add(parcel, now, relays_at_once());
  if (joined()) {  // before, it becomes part of the first model, without a staleness
    bool somebody_waits = false;
    {
      const std::lock_guard inbox(inbox_.mutex());
      inbox_.add(std::move(parcel), 0);
      somebody_waits = inbox_.ring();
    }
    if (somebody_waits) inbox_.notify();
    not_folded_ = inbox_.depth() > most_unfolded() ? not_folded_ + 1 : 0;
  }
  check_budget(now);
}

void Protocol::on_want(Link& link, Nanoseconds now) {
  link.wants_model = true;
  link.offered = link.reported;
  if (snapshot_ && log().has_all_of(names().without(snapshot_->names)))
    return serve(link, *snapshot_, now);
  wants_snapshot_ = true;
  inbox_.wake();
}

void Protocol::serve(Link& link, const Model& model, Nanoseconds now) {
  link.wants_model = false;
  link.served = true;
  link.promised = model.names;
  link.offered.unite(model.names);
  link.behind = false;
  link.quick = link.slow = 0;
  transmit(link, Snapshot{model.names, model.samples, options_.format}, std::span(*model.sums),
           model.sums);
  pump(link, now);
}

void Protocol::on_snapshot(Link& link, Snapshot& snapshot, Nanoseconds now) {
  auto sums = std::exchange(link.sums, nullptr);
  link.asked = false;
  holdings_.note(snapshot.names);
  if (end_.is_over() || (joined() && pulling_ != link.id))
    return;  // so late that somebody else was asked
  offered_model_ = Model{std::move(snapshot.names), snapshot.samples, std::move(sums)};
  pulling_.reset();
  pulled_from_ = link.member;
  pulled_at_ = now;
  inbox_.wake();
}

bool Protocol::relays_at_once() const {
  return members_.count_here() > options_.most_in_mesh || members_.has_member_without_address();
}

bool Protocol::can_stream(const Link& link) const {
  return log().has_all_of(names().without(link.offered));
}

std::vector<WorkerId> Protocol::linked_to() const {
  std::vector<WorkerId> members;
  for (const auto& [id, link] : links_)
    if (link->open) members.push_back(link->member);
  return members;
}

void Protocol::report_to(Link& link, Nanoseconds now) {
  Record& me = members_.me();
  ++me.version;
  me.t = names().size();
  me.computed = holdings_.announced(Membership::self);
  me.names = me.stopped ? roster_.hash(names()) : Hash{};
  Report report{names(), can_stream(link), {}, link.taken, linked_to()};
  link.versions.resize(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Record& record = members_[worker_id(i)].record;
    if (record.version <= link.versions[i]) continue;
    link.versions[i] = record.version;
    report.records.push_back(record);
  }
  link.acks_sent = link.taken;
  link.reported_at = now;
  transmit(link, report);
  pass_words_on(link);
}

void Protocol::report_news(Nanoseconds now) {
  if (has_news_) report_to_all(now);
}

void Protocol::report_to_all(Nanoseconds now) {
  has_news_ = false;
  unreported_ = 0;
  for (auto& [id, link] : links_)
    if (link->open) report_to(*link, now);
}

bool Protocol::lacks_too_much(const Link& link) const {
  const std::size_t most = most_waiting();
  if (log().size() <= most || names().count_missing_from(link.reported) <= most) return false;
  return log().names().without(link.reported).count_missing_from(link.promised) > most;
}

// Whether a member gets one by one what it lacks. One without a link is awaited for a while: it may
// be about to come, or to come back.
bool Protocol::is_awaited(WorkerId number, Nanoseconds now) {
  const Member& member = members_[number];
  if (member.state == MemberState::silent) return false;
  Link* link = link_to(number);
  if (link && link->heard_report) {
    if (!link->behind && lacks_too_much(*link)) {
      link->behind = true;
      // A member that has just joined is behind as well.
      if (++link->times_behind >= 3) warn_of_link(*link, now);
    }
    return !link->behind;
  }
  return now - member.apart <= options_.patience.gone && log().size() <= 2 * most_waiting() &&
         wants_link(number);
}

// A model that is taken over now and then brings everything, but late: staleness is what it costs.
void Protocol::warn_of_link(const Link& link, Nanoseconds now) {
  if (warned_of_links_at_ && now - *warned_of_links_at_ < options_.warn_again) return;
  warned_of_links_at_ = now;
  say(now, fmt::format("the link to {} does not keep up at {:.1f} MB/s: gradients arrive late, and "
                       "stale gradients cost accuracy; use larger batches (`batch`) or longer "
                       "gradients (`pace.compute`)",
                       label(link.member), link.bytes_per_second * 1e-6));
}

// Whether some link will be served by a model, not one by one: what is sent meanwhile is on both
// sides of a difference between models, and has to be taken off it.
bool Protocol::is_merging() const {
  return pulling_ || std::any_of(links_.begin(), links_.end(), [&](const auto& l) {
           return l.second->open && l.second->heard_report &&
                  !(l.second->peer_can_stream && can_stream(*l.second));
         });
}

void Protocol::want_copy() {
  wants_copy_ = true;
  inbox_.wake();
}

// A gradient is dropped when all who are awaited have it. Whoever goes out of sight leaves a copy
// of the model behind, and nothing is dropped before that is made.
void Protocol::collect(Nanoseconds now) {
  collected_at_ = now;
  if (!joined()) return;
  std::vector<const GradientSet*> awaited;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    if (!members_.may_be_alive(worker_id(i))) continue;
    const bool was_in_sight = std::exchange(member.in_sight, is_awaited(worker_id(i), now));
    if (member.in_sight) awaited.push_back(&member.reported);
    const bool to_note = member.in_sight ? !was_in_sight && !copies_.empty() : was_in_sight;
    if (!to_note) continue;
    want_copy();
  }
  const bool is_full = log_is_full();
  if (!is_full && (cut_off_ || wants_copy_ || is_copying_)) return;
  // While somebody may come back, those who have met it already pass on what it sends.
  // Nor do all on a side make their copies at the same moment.
  const Nanoseconds meeting = options_.meeting();
  if (!copies_.empty() && now - copied_at_ <= meeting) loosen();
  // What was sent to a member that has just come back is on both sides, however old it is. A link
  // that never keeps up is a different matter.
  if (!is_merging())
    merging_since_.reset();
  else if (!merging_since_)
    merging_since_ = now;
  const bool has_just_begun = merging_since_ && now - *merging_since_ < options_.merging();
  if (!is_full && merging_since_ && (has_just_begun || log().size() <= 2 * most_waiting())) return;
  // All keep it for as long: what one drops and another sends could not be separated later.
  Nanoseconds keep_for = 0;
  if (!copies_.empty() && !is_full)
    keep_for = log().size() <= 2 * most_waiting() ? options_.patience.gone : meeting;
  GradientSet unneeded = is_full ? log().names() : copies_.without_loose(log().names());
  if (!is_full && (pulling_ || offered_model_)) unneeded.intersect(pulled_at_least_);
  for (const GradientSet* reported : awaited) unneeded.intersect(*reported);
  holdings_.log().drop(unneeded, now - keep_for);
}

// What is in the log now may be on either side of the last copy at somebody else.
void Protocol::loosen() { copies_.loosen(log().names()); }

}  // namespace dasgd::elastic
