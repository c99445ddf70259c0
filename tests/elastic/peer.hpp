// One member by itself: the test is the network and the other members.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic::test {

inline constexpr std::size_t dimension = 2;
inline constexpr Nanoseconds a_second = 1'000'000'000;

/// Keeps what a member says, by link.
struct Said : Wires {
  LinkId dial(const std::string&) override { return LinkId{99}; }
  void send(LinkId link, Bytes header, std::span<const std::byte>,
            std::shared_ptr<const void>) override {
    said[link].push_back(decode(header, names[link], roster).value());
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId link) override { closed.push_back(link); }

  template <typename Kind>
  std::size_t count(LinkId link) {
    std::size_t found = 0;
    for (const Message& message : said[link]) found += std::holds_alternative<Kind>(message);
    return found;
  }

  /// What it said last of somebody.
  Record last_record(LinkId link, Origin of) {
    Record found;
    for (const Message& message : said[link])
      if (const auto* report = std::get_if<Report>(&message))
        for (const Record& record : report->records)
          if (record.origin == of && record.version > found.version) found = record;
    return found;
  }

  std::map<LinkId, Introductions> names;
  Roster roster;
  std::map<LinkId, std::vector<Message>> said;
  std::vector<LinkId> closed;
};

/// Of the member that founds the run.
inline ProtocolOptions founder() {
  return {
      .origin = {1, 1}, .name = "one", .facts = "same", .founder = true, .dimension = dimension};
}

/// The other end of a link.
struct Peer {
  Peer(Protocol& to, LinkId id, Origin from, std::string where = "", std::string called = "peer")
      : protocol(to), link(id), origin(from), address(std::move(where)), name(std::move(called)) {
    protocol.linked(link, false, 0);
    say(Hello{{}, origin, name, address, "same"}, 0);
  }
  void report(bool joined, Nanoseconds now) { say_of_itself(record(joined), now); }
  /// A new one of itself.
  Record record(bool joined = true) {
    return {
        .origin = origin, .version = ++version, .name = name, .address = address, .joined = joined};
  }
  void say_of_itself(const Record& record, Nanoseconds now) {
    Report report;
    report.records.push_back(record);
    say(report, now);
  }
  /// It computes no more, and holds this, in the numbers of its own roster.
  void report_stopped(const GradientSet& held, bool can_stream, Nanoseconds now) {
    Report report{held, can_stream, {}, 0};
    report.records.push_back(record());
    report.records.back().stopped = true;
    report.records.back().names = roster.hash(held);
    say(report, now);
  }
  void say(const Message& message, Nanoseconds now) {
    protocol.received(link, encode(message, names, roster), now);
  }
  /// Whether there was a place for it.
  bool send_model(Nanoseconds now, const GradientSet& held = {}) {
    const Bytes header = encode(Snapshot{held, held.size(), NumberFormat::of_float}, names, roster);
    const auto place = protocol.body(link, header, 8 * dimension, now);
    if (!place || place->size() != 8 * dimension) return false;
    protocol.received(link, header, now);
    return true;
  }

  /// One of its own; whether there was a place for it.
  bool send_gradient(std::uint32_t sequence, Nanoseconds now) {
    GradientMessage message;
    message.facts.name = {roster.number(origin), sequence};
    const Bytes header = encode(message, names, roster);
    if (!protocol.body(link, header, 4 * dimension, now)) return false;
    protocol.received(link, header, now);
    return true;
  }

  Protocol& protocol;
  const LinkId link;
  const Origin origin;
  const std::string address, name;
  Introductions names;
  Roster roster;
  std::uint64_t version = 0;
};

inline void compute(Protocol& protocol, std::uint32_t sequence, Nanoseconds now) {
  const auto own = protocol.blank();
  own->name = {Membership::self, sequence};
  own->compute_set = protocol.held();
  own->origin_step = own->compute_set.size();
  own->update.resize_bytes(4 * dimension, NumberFormat::of_float);
  protocol.own(own, now);
  protocol.pump(now);
}

}  // namespace dasgd::elastic::test
