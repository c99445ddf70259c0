// Links, and what comes and goes on them.
#include "dasgd/elastic/protocol.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/membership/facts.hpp"

namespace dasgd::elastic {

Protocol::Protocol(ProtocolOptions options, Wires& wires)
    : options_(std::move(options)),
      wires_(wires),
      pool_(GradientPool::create(4 * options_.limits.in_flight)),
      members_({.origin = options_.origin,
                .name = options_.name,
                .address = options_.address,
                .joined = options_.founder},
               roster_, options_.patience),
      run_(options_.run),
      links_(options_, wires_, roster_),
      dialer_(options_, wires_, members_, roster_),
      windows_(options_, members_),
      tree_(options_.limits.children, members_),
      holdings_(members_),
      end_(options_, members_, roster_),
      takeover_(options_, members_),
      retention_(options_),
      card_(options_.patience.gone / 2),
      comparison_(options_) {}

void Protocol::linked(LinkId id, bool dialed, Nanoseconds now, const std::string& remote) {
  const std::lock_guard lock(mutex_);
  if (closed_) return wires_.close(id);
  links_.send(links_.add(id, dialed, remote, now),
              Hello{run_, options_.origin, options_.name, options_.address, options_.facts});
}

void Protocol::lost(LinkId id, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  dialer_.settle(id);
  drop(id, now);
}

void Protocol::on_bytes(LinkId id, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (MemberLink* link = links_.find(id)) heard_on(*link, now);
}

void Protocol::heard_on(MemberLink& link, Nanoseconds now) {
  link.heard = now;
  if (link.open) members_.heard_from(link.member, now);
}

void Protocol::drop(LinkId id, Nanoseconds now) {
  const auto link = links_.remove(id);
  if (!link) return;
  takeover_.lost(id);
  if (!link->open || links_.to(link->member)) return;
  Member& member = members_[link->member];
  if (link->stream.has_reported() && members_.may_be_alive(link->member))
    member.reported = link->stream.reported();
  member.apart = now;
  const bool is_here = member.state == MemberState::here;
  if (link->goodbye || (!is_here && member.state != MemberState::ended)) return;
  member.link_broken = true;
  member.dial_at = now;
  member.dial_pause = 0;
}

void Protocol::disconnect(LinkId id, Nanoseconds now) {
  wires_.close(id);
  drop(id, now);
}

void Protocol::handle(MemberLink& link, Message message, Nanoseconds now) {
  if (auto* hello = std::get_if<Hello>(&message)) return on(link, *hello, now);
  if (auto* report = std::get_if<Report>(&message)) return on(link, *report, now);
  if (std::holds_alternative<GradientMessage>(message) ||
      std::holds_alternative<BundleMessage>(message))
    return on_parcel(link, now);
  if (std::holds_alternative<Want>(message)) return on_want(link, now);
  if (auto* snapshot = std::get_if<Snapshot>(&message); snapshot && link.incoming.is_model())
    return on_snapshot(link, *snapshot, now);
  if (const auto* goodbye = std::get_if<Goodbye>(&message)) return on(link, *goodbye, now);
  if (const auto* rotation = std::get_if<Rotation>(&message)) {
    if (*rotation > rotation_) spread(*rotation);
    return;
  }
  if (const auto* word = std::get_if<Word>(&message)) return on(*word);
  if (auto* digest = std::get_if<ModelDigest>(&message)) return on(link, *digest, now);
  if (const auto* refusal = std::get_if<Refusal>(&message)) {
    if (has_first_model())
      say(now, "refused: " + refusal->why);
    else
      give_up(refusal->why);
  }
  disconnect(link.id, now);
}

void Protocol::on(MemberLink& link, Hello& hello, Nanoseconds now) {
  const auto refuse = [&](std::string why) {
    if (joined()) say(now, fmt::format("refused {}: {}", hello.name, why));
    links_.send(link, Refusal{std::move(why)});
    disconnect(link.id, now);
  };
  const std::string dialed = dialer_.settle(link.id);
  if (!joined()) run_ = hello.run;
  if (hello.run != run_ && (rotation_.number == 0 || hello.run != rotation_.run))
    return refuse("this is another run");
  if (hello.origin == options_.origin) {
    dialer_.found(dialed);
    return disconnect(link.id, now);
  }
  const bool known = roster_.find(hello.origin).has_value();
  if (!known && end_.is_over() && !end_.ending())
    return disconnect(link.id, now);  // this one leaves, others do not
  if (!known && (end_.ending() || end_.is_over())) return refuse("the run is ending");
  if (hello.facts.empty()) {
    Welcome welcome{options_.settings, options_.facts, {options_.address}, options_.before};
    for (const WorkerId m : members_.here())
      if (m != Membership::self) welcome.addresses.push_back(members_[m].record.address);
    std::erase(welcome.addresses, std::string());
    links_.send(link, welcome);
    return;  // it hangs up
  }
  if (const std::string what = difference(options_.facts, hello.facts); !what.empty()) {
    refuse(what);
    // The member that a newcomer dialed is in the run: it is the newcomer that does not belong
    // there.
    if (!has_first_model() && !dialed.empty()) give_up(difference(hello.facts, options_.facts));
    return;
  }
  const WorkerId member = roster_.number(hello.origin);
  members_.grow();
  for (std::size_t i = 1; i < members_.size(); ++i)  // somebody else lives there now
    if (!dialed.empty() && worker_id(i) != member &&
        members_[worker_id(i)].record.address == dialed && !links_.to(worker_id(i)))
      died(worker_id(i), now, "another process has its address");
  dialer_.found(dialed);
  Member& m = members_[member];
  if (m.record.version == 0) {
    m.record.origin = hello.origin;
    m.record.name = hello.name;
    m.record.address = hello.address;
  }
  const auto host = [](const std::string& address) {
    return address.substr(0, address.rfind(':'));
  };
  m.address_is_right |=
      link.remote.empty() || dialed == hello.address || host(link.remote) == host(hello.address);
  dialer_.found(hello.address);
  // Of two links the one stays that the smaller origin dialed; of two of one kind the newer.
  if (const MemberLink* other = links_.to(member)) {
    const bool keep_dialed = options_.origin < hello.origin;
    if (other->dialed != link.dialed && link.dialed != keep_dialed) return disconnect(link.id, now);
    const LinkId old = other->id;
    link.open = true;
    link.member = member;
    disconnect(old, now);
  }
  if (m.state == MemberState::unknown) say(now, fmt::format("{} joined", hello.name));
  if (m.state == MemberState::silent || m.state == MemberState::dead)
    say(now, fmt::format("{} came back", hello.name));
  link.open = true;
  link.member = member;
  link.digests = comparison_.sent();
  if (m.state == MemberState::ended || m.state == MemberState::left) m.state = MemberState::unknown;
  members_.heard_from(member, now);
  if (rotation_.number > 0) links_.send(link, rotation_);
  if (end_.is_over()) {  // a late returner
    report_to(link, now);
    return say_goodbye(link);
  }
  report_to(link, now);
}

void Protocol::on(MemberLink& link, const Goodbye& goodbye, Nanoseconds now) {
  link.goodbye = true;
  Member& member = members_[link.member];
  const auto& offered = takeover_.offered();
  const GradientSet& held = offered && !joined() ? offered->names : names();
  if (goodbye.ended) {
    member.record.names = goodbye.names;
    member.record.digest = goodbye.digest;
    member.record.ended = true;
    member.link_broken = goodbye.digest == Hash{};  // it will not send one any more
    members_.set_state(link.member, MemberState::ended, now);
    if (!has_first_model()) {
      give_up("the run has ended");
    } else if (!end_.is_over() && goodbye.names != roster_.hash(held)) {
      std::uint64_t mine = 0;
      names().for_each_range_missing_from(link.stream.reported(),
                                          [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
                                            if (o == Membership::self) mine += last - first;
                                          });
      say(now, fmt::format("the run has ended; {} of this member's gradients came too late", mine));
      end_.miss(mine);
      begin_ending(StopReason::interrupted, now);
    }
  } else {
    members_.set_state(link.member, MemberState::left, now);
  }
  disconnect(link.id, now);
  settle_end(now);
  if (end_.is_over()) inbox_.wake();
}

void Protocol::spread(const Rotation& rotation) {
  rotation_ = rotation;
  if (options_.rotated) options_.rotated(rotation.token);
  for (auto& [id, link] : links_)
    if (link.open) links_.send(link, rotation_);
}

void Protocol::rotate(const std::string& token, const RunId& run) {
  const std::lock_guard lock(mutex_);
  spread({rotation_.number + 1, token, run});
}

// Only whoever came to the end of the run knows that it is over for all.
void Protocol::say_goodbye(MemberLink& link) {
  links_.send(link, Goodbye{members_.me().ended, roster_.hash(names()), members_.me().digest});
}

void Protocol::close(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (auto& [id, link] : links_) {
    if (!link.open) continue;
    report_to(link, now);
    say_goodbye(link);
  }
  while (links_.begin() != links_.end()) disconnect(links_.begin()->first, now);
  closed_ = true;
}

}  // namespace dasgd::elastic
