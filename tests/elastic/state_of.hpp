// A number for all that a member's next steps depend on: two members with the same one go on alike.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

/// Left out: what is only counted or shown (bytes, rates, lines for people), and sums of models,
/// which follow from their names.
struct StateOf {
  std::uint64_t hash = 0x9e3779b97f4a7c15ull;

  void add(std::uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9ull;
    hash ^= hash >> 29;
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void operator()(Number value) { add(static_cast<std::uint64_t>(value)); }
  void operator()(std::span<const std::byte> bytes) {
    add(bytes.size());
    for (const std::byte b : bytes) add(static_cast<std::uint64_t>(b));
  }
  void operator()(const std::string& text) { (*this)(std::as_bytes(std::span(text))); }
  void operator()(const Origin& origin) { add(origin.high), add(origin.low); }
  void operator()(const GradientName& name) { (*this)(name.origin), add(name.sequence); }
  void operator()(const GradientSet& set) {
    add(set.size());
    set.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      (*this)(o), add(first), add(last);
    });
  }
  void operator()(const Parcel& parcel) {
    add(parcel.size());
    parcel.for_each([this](const GradientFacts& g) { (*this)(g.name); });
  }
  void operator()(const Model& model) { (*this)(model.names), add(model.samples); }
  template <typename A, typename B>
  void operator()(const std::pair<A, B>& both) {
    (*this)(both.first), (*this)(both.second);
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    add(value.has_value());
    if (value) (*this)(*value);
  }
  template <std::ranges::sized_range Range>
  void operator()(const Range& range) {
    add(std::ranges::size(range));
    for (const auto& value : range) (*this)(value);
  }
  template <typename First, typename Second, typename... Others>
  void operator()(const First& first, const Second& second, const Others&... others) {
    (*this)(first), (*this)(second), ((*this)(others), ...);
  }

  void operator()(const Record& r) {
    (*this)(r.origin, r.version, r.address, r.joined, r.joined_at, r.t, r.computed, r.ending,
            r.stopped, r.left, r.ended, r.names, r.ready, r.digest);
  }
  void operator()(const Member& m) {
    (*this)(m.record, m.state, m.since, m.heard, m.longest_gap, m.apart, m.in_sight, m.reported,
            m.reported_by_others, m.address_is_right, m.link_broken, m.dial_at, m.dial_pause);
  }
  void operator()(const Introductions& i) {
    (*this)(i.announced_, i.theirs_, i.last_sent_, i.last_received_);
  }
  void operator()(const LinkStream& s) {
    (*this)(s.reported_, s.promised_, s.offered_, s.has_reported_, s.times_behind_, s.behind_,
            s.quick_, s.slow_, s.was_full_, s.linked_, s.wants_model_, s.served_,
            s.peer_can_stream_, s.reports_without_stream_, s.lacked_, s.still_lacked_,
            s.less_since_, s.late_, s.lacked_since_, s.sent_, s.acked_, s.resent_, s.resent_before_,
            s.own_seen_at_, s.hole_since_);
  }
  void operator()(const MemberLink& l) {
    (*this)(l.id, l.dialed, l.open, l.since, l.heard, l.member, l.names, l.stream, l.asked, l.taken,
            l.acks_sent, l.reported_at, l.versions, l.digests, l.goodbye, l.is_edge_there,
            l.is_edge_here);
  }

  void operator()(const Holdings& h) {
    (*this)(h.names_, h.samples_, h.missing_, h.announced_, h.abandoned_);
    add(h.log_.visit_from(0, [this](const Log::Entry& e) {
      (*this)(e.parcel, e.since, e.at_once);
      return true;
    }));
  }
  void operator()(const EndAgreement& e) {
    (*this)(e.since_, e.leaving_, e.over_, e.agreed_, e.missed_, e.compared_at_, e.too_late_,
            e.could_not_join_, e.handed_over_, e.ready_with_, e.held_back_);
  }

  void operator()(const Dialer& d) { (*this)(d.contacts_, d.dialing_); }
  void operator()(const CutWatch& c) { (*this)(c.cut_off_, c.since_, c.computed_); }
  void operator()(const Snapshots& s) { (*this)(s.last_, s.at_, s.wanted_, s.is_new_); }
  void operator()(const Takeover& t) {
    (*this)(t.pulling_, t.from_, t.at_, t.at_least_, t.offered_, t.is_to_correct_, t.stuck_since_,
            t.not_before_);
  }
  void operator()(const Retention& r) {
    (*this)(r.copies_.models(), r.wants_copy_, r.is_copying_, r.copied_at_, r.unsettled_at_,
            r.collected_at_, r.merging_since_);
  }

  void operator()(const Comparison::Difference& d) {
    (*this)(d.from, d.of_other.names, d.of_other.digest);
  }
  void operator()(const Comparison& c) {
    (*this)(c.wanted_, c.wanted_at_, c.heard_at_, c.not_before_, c.heard_, c.under_way_,
            c.own_.names, c.own_.digest, c.sent_);
  }

  void operator()(const Protocol& p) {
    (*this)(p.roster_.origins(), p.dialer_, p.links_.links_, p.holdings_, p.end_, p.snapshots_,
            p.takeover_, p.retention_, p.cut_, p.comparison_, p.counts_.not_folded,
            p.counts_.not_looked_at, p.counts_.unreported, p.counts_.has_news, p.closed_,
            p.moments_.begun, p.moments_.ticked, p.tree_.places_, p.tree_.edges_, p.tree_.broken_,
            p.tree_.slow_, p.inbox_.depth());
    for (std::size_t i = 0; i < p.members_.size(); ++i) (*this)(p.members_[worker_id(i)]);
    (*this)(p.retention_.copies_.without_loose(p.log().names()));
  }

  static Hash ready(const Protocol& p) { return p.members_.me().ready; }
  /// Whether the worker has something to do between two steps.
  static bool has_task(const Protocol& p) {
    return p.takeover_.offered() || p.retention_.wants_copy() || p.snapshots_.is_wanted() ||
           p.comparison_.is_waiting();
  }
};

}  // namespace dasgd::elastic
