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
  void operator()(const Protocol::Link& l) {
    (*this)(l.id, l.dialed, l.open, l.heard, l.member, l.names, l.reported, l.promised, l.offered,
            l.heard_report, l.times_behind, l.behind, l.quick, l.slow, l.was_full, l.linked,
            l.wants_model, l.served, l.asked, l.peer_can_stream, l.reports_without_stream, l.lacked,
            l.lacked_since);
    (*this)(l.sent, l.acked, l.taken, l.acks_sent, l.reported_at, l.versions, l.goodbye);
  }
  void operator()(const std::unique_ptr<Protocol::Link>& link) { (*this)(*link); }

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

  void operator()(const Protocol& p) {
    (*this)(p.roster_.origins(), p.contacts_, p.dialing_, p.links_, p.holdings_, p.not_folded_,
            p.not_looked_at_, p.unreported_, p.has_news_, p.joined(), p.wants_copy_, p.is_copying_,
            p.copies_.models(), p.copied_at_, p.unsettled_at_, p.collected_at_, p.snapshot_,
            p.wants_snapshot_);
    for (std::size_t i = 0; i < p.members_.size(); ++i) (*this)(p.members_[worker_id(i)]);
    (*this)(p.copies_.without_loose(p.log().names()), p.snapshot_is_new_, p.is_to_correct_,
            p.offered_model_, p.snapshot_at_, p.pulling_, p.pulled_from_, p.pulled_at_,
            p.pulled_at_least_, p.stuck_since_, p.merging_since_, p.do_not_pull_, p.cut_off_,
            p.cut_since_, p.computed_while_cut_, p.end_, p.closed_);
    (*this)(p.begun_, p.ticked_at_, p.inbox_.depth());
  }

  static Hash ready(const Protocol& p) { return p.members_.me().ready; }
  /// Whether the worker has something to do between two steps.
  static bool has_task(const Protocol& p) {
    return p.offered_model_ || p.wants_copy_ || p.wants_snapshot_;
  }
};

}  // namespace dasgd::elastic
