// Links, and what comes and goes on them.
#include "dasgd/elastic/protocol.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/link.hpp"

namespace dasgd::elastic {
namespace {

std::size_t update_bytes(const ProtocolOptions& o) { return o.dimension * number_bytes(o.format); }
std::size_t model_bytes(const ProtocolOptions& o) { return o.dimension * sum_bytes(o.format); }

}  // namespace

Protocol::Protocol(ProtocolOptions options, Network& network)
    : options_(std::move(options)),
      network_(network),
      pool_(GradientPool::create(4 * options_.in_flight)),
      members_({.origin = options_.origin,
                .name = options_.name,
                .address = options_.address,
                .joined = options_.founder},
               roster_, options_.patience),
      joined_(options_.founder) {
  for (const std::string& address : options_.contacts)
    if (address != options_.address) contacts_[address] = 0;
}

Protocol::~Protocol() = default;

// What a link may lack before it is behind: what fits, but not less than members have under way.
std::size_t Protocol::most_waiting() const {
  const std::uint64_t fit =
      options_.most_waiting_bytes / std::max<std::size_t>(1, update_bytes(options_));
  return std::max<std::uint64_t>(std::min<std::uint64_t>(fit, 4096),
                                 4 * options_.in_flight * members_.here().size());
}

void Protocol::transmit(Link& link, const Message& message, std::span<const std::byte> body,
                        std::shared_ptr<const void> keeper) {
  Bytes header = encode(message, link.names, roster_);
  link.bytes += header.size() + body.size();
  sent_.bytes += header.size() + body.size();
  network_.send(link.id, std::move(header), body, std::move(keeper));
}

Protocol::Link* Protocol::link_to(WorkerId member) {
  for (auto& [id, link] : links_)
    if (link->open && link->member == member) return link.get();
  return nullptr;
}

std::string Protocol::label(WorkerId member) const {
  const std::string& name = members_[member].record.name;
  return name.empty() ? roster_.origin(member).text().substr(0, 8) : name;
}

void Protocol::linked(LinkId id, bool dialed, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return network_.close(id);
  auto& link = links_[id] = std::make_unique<Link>();
  link->id = id;
  link->dialed = dialed;
  link->reported_at = now;
  transmit(*link,
           Hello{options_.run, options_.origin, options_.name, options_.address, options_.facts});
}

void Protocol::dial_failed(LinkId id, bool refused, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto at = dialing_.find(id);
  if (at == dialing_.end()) return;
  const std::string address = std::move(at->second);
  dialing_.erase(at);
  if (contacts_.contains(address)) contacts_[address] = now + options_.patience.slowest_dial / 4;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    if (member.record.address != address || link_to(worker_id(i))) continue;
    member.dial_pause = std::clamp(2 * member.dial_pause, options_.patience.first_dial,
                                   options_.patience.slowest_dial);
    member.dial_at = now + member.dial_pause;
    const bool fresh = !member.hung_up && member.standing != Standing::unknown &&
                       now - member.heard < options_.patience.suspect;
    if (refused && !fresh) died(worker_id(i), now, "nobody answers at its address");
  }
}

void Protocol::died(WorkerId member, Nanoseconds now, const char* how) {
  Member& m = members_[member];
  const bool was_here = m.standing == Standing::here || m.standing == Standing::silent;
  if (!was_here && m.standing != Standing::unknown) return;
  members_.stand(member, Standing::dead, now);
  m.dial_at = now + options_.patience.gone;
  if (was_here) say(now, fmt::format("{} is gone: {}", label(member), how));
}

void Protocol::lost(LinkId id, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  dialing_.erase(id);
  drop(id, now);
}

void Protocol::drop(LinkId id, Nanoseconds now) {
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  const std::unique_ptr<Link> link = std::move(at->second);
  links_.erase(at);
  if (pulling_ == id) pulling_.reset();
  if (!link->open || link_to(link->member)) return;
  Member& member = members_[link->member];
  if (link->heard_report) member.reported = link->reported;
  if (link->goodbye || member.standing != Standing::here) return;
  member.hung_up = true;
  member.dial_at = now;
  member.dial_pause = 0;
}

void Protocol::hang_up(LinkId id, Nanoseconds now) {
  network_.close(id);
  drop(id, now);
}

std::optional<std::span<std::byte>> Protocol::body(LinkId id, std::span<const std::byte> header,
                                                   std::uint64_t bytes, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto at = links_.find(id);
  if (at == links_.end()) return std::nullopt;
  Link& link = *at->second;
  if (link.open) members_.heard_from(link.member, now);
  link.incoming = decode(header, link.names, roster_);
  members_.grow();
  if (!link.incoming) return std::nullopt;
  if (const auto* g = std::get_if<GradientMessage>(&*link.incoming)) {
    if (!link.open || g->format != options_.format || bytes != update_bytes(options_))
      return std::nullopt;
    link.gradient = pool_->take_beyond();
    static_cast<GradientFacts&>(*link.gradient) = g->facts;
    link.gradient->update.resize_bytes(bytes, g->format);
    link.gradient->update.shift = g->shift;
    return link.gradient->update.bytes();
  }
  if (const auto* s = std::get_if<Snapshot>(&*link.incoming)) {
    if (!link.open || pulling_ != id || s->format != options_.format ||
        bytes != model_bytes(options_))
      return std::nullopt;
    link.sums = std::make_shared<Bytes>(bytes);
    return std::span(*link.sums);
  }
  if (bytes != 0) return std::nullopt;
  return std::span<std::byte>();
}

void Protocol::received(LinkId id, std::span<const std::byte> header, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto at = links_.find(id);
  if (at == links_.end()) return;
  Link& link = *at->second;
  auto message = std::exchange(link.incoming, std::nullopt);
  if (!message) {
    message = decode(header, link.names, roster_);
    members_.grow();
  }
  if (link.open) members_.heard_from(link.member, now);
  const bool is_hello = message && std::holds_alternative<Hello>(*message);
  if (!message || is_hello == link.open) return hang_up(id, now);
  handle(link, std::move(*message), now);
}

void Protocol::handle(Link& link, Message message, Nanoseconds now) {
  if (auto* hello = std::get_if<Hello>(&message)) return on(link, *hello, now);
  if (auto* report = std::get_if<Report>(&message)) return on(link, *report, now);
  if (std::holds_alternative<GradientMessage>(message)) return on_gradient(link, now);
  if (std::holds_alternative<Want>(message)) return on_want(link, now);
  if (auto* snapshot = std::get_if<Snapshot>(&message)) {
    if (!link.sums) return hang_up(link.id, now);
    note(snapshot->names);
    offered_model_ =
        Model{std::move(snapshot->names), snapshot->samples, std::exchange(link.sums, nullptr)};
    return on_snapshot(link, now);
  }
  if (const auto* goodbye = std::get_if<Goodbye>(&message)) return on(link, *goodbye, now);
  if (const auto* refusal = std::get_if<Refusal>(&message)) {
    say(now, "refused: " + refusal->why);
    if (!joined_) give_up(refusal->why);
  }
  hang_up(link.id, now);
}

// The first line that differs, in words.
std::string Protocol::difference(const std::string& facts) const {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      found.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return found;
  };
  const auto ours = lines(options_.facts), theirs = lines(facts);
  for (std::size_t k = 0; k < std::max(ours.size(), theirs.size()); ++k) {
    const std::string a = k < ours.size() ? ours[k] : "nothing";
    const std::string b = k < theirs.size() ? theirs[k] : "nothing";
    if (a != b) return fmt::format("the run has {}; you have {}", a, b);
  }
  return {};
}

void Protocol::on(Link& link, Hello& hello, Nanoseconds now) {
  const auto refuse = [&](std::string why) {
    say(now, fmt::format("refused {}: {}", hello.name, why));
    transmit(link, Refusal{std::move(why)});
    hang_up(link.id, now);
  };
  const std::string dialed = std::exchange(dialing_[link.id], {});
  dialing_.erase(link.id);
  if (hello.run != options_.run) return refuse("this is another run");
  if (hello.origin == options_.origin) {
    contacts_.erase(dialed);
    return hang_up(link.id, now);
  }
  const bool known = roster_.find(hello.origin).has_value();
  if (!known && (ending_ || over_)) return refuse("the run is ending");
  if (hello.facts.empty()) {
    transmit(link, Welcome{options_.settings, options_.facts, [&] {
                             std::vector<std::string> found{options_.address};
                             for (const WorkerId m : members_.here())
                               if (m != Membership::self)
                                 found.push_back(members_[m].record.address);
                             std::erase(found, std::string());
                             return found;
                           }()});
    return;  // it hangs up
  }
  if (const std::string what = difference(hello.facts); !what.empty()) return refuse(what);
  const WorkerId member = roster_.number(hello.origin);
  members_.grow();
  for (std::size_t i = 1; i < members_.size(); ++i)  // somebody else lives there now
    if (!dialed.empty() && worker_id(i) != member &&
        members_[worker_id(i)].record.address == dialed && !link_to(worker_id(i)))
      died(worker_id(i), now, "another process has its address");
  contacts_.erase(dialed);
  Member& m = members_[member];
  if (m.record.version == 0) {
    m.record.origin = hello.origin;
    m.record.name = hello.name;
    m.record.address = hello.address;
  }
  contacts_.erase(hello.address);
  // Of two links the one stays that the smaller origin dialed; of two of one kind the newer.
  if (Link* other = link_to(member)) {
    const bool keep_dialed = options_.origin < hello.origin;
    if (other->dialed != link.dialed && link.dialed != keep_dialed) return hang_up(link.id, now);
    const LinkId old = other->id;
    link.open = true;
    link.member = member;
    hang_up(old, now);
  }
  if (m.standing == Standing::unknown) say(now, fmt::format("{} has come", hello.name));
  if (m.standing == Standing::silent || m.standing == Standing::dead)
    say(now, fmt::format("{} is back", hello.name));
  link.open = true;
  link.member = member;
  if (m.standing == Standing::ended || m.standing == Standing::left) m.standing = Standing::unknown;
  members_.heard_from(member, now);
  if (over_) {  // a late returner
    report_to(link, now);
    transmit(link, Goodbye{!members_.me().left, roster_.hash(held_)});
    return;
  }
  report_to(link, now);
}

void Protocol::note(const GradientSet& names) {
  const auto reach = [this](WorkerId origin, std::uint32_t count) {
    if (index(origin) >= told_.size()) told_.resize(index(origin) + 1, 0);
    told_[index(origin)] = std::max(told_[index(origin)], count);
  };
  const auto& prefixes = names.prefixes();
  for (std::size_t o = 0; o < prefixes.size(); ++o)
    if (prefixes[o] > 0) reach(worker_id(o), prefixes[o]);
  for (const NameRange& range : names.exceptions()) reach(range.origin, range.last);
}

void Protocol::on(Link& link, Report& report, Nanoseconds now) {
  if (report.held.size() > 0) note(report.held);
  // Somebody who has given names up no longer has what was sent to it.
  const bool shrunk = link.reported.count_missing_from(report.held) > 0;
  link.reported = std::move(report.held);
  if (shrunk || !link.heard_report) {
    link.offered = link.reported;
    link.quick = link.slow = log_.begin();
  } else {
    link.offered.unite(link.reported);
  }
  link.heard_report = true;
  members_[link.member].reported = link.reported;
  link.peer_can_stream = report.can_stream;
  link.reports_without_stream = report.can_stream ? 0 : link.reports_without_stream + 1;
  if (link.lacked.count_missing_from(held_) == 0) {
    link.lacked = link.reported.without(held_);
    link.lacked_since = now;
  }
  for (const Record& record : report.records) hear(record, now);
  if (link.behind && can_stream(link)) {
    link.behind = false;
    link.quick = link.slow = log_.begin();
  }
  collect();
  pump(link, now);
  pull(now);
  settle_end(now);
}

void Protocol::hear(const Record& record, Nanoseconds now) {
  const auto before = roster_.find(record.origin);
  const bool is_new = !before || members_[*before].standing == Standing::unknown;
  if (!members_.hear(record, now)) return;
  const WorkerId member = *roster_.find(record.origin);
  if (index(member) >= told_.size()) told_.resize(index(member) + 1, 0);
  told_[index(member)] =
      std::max(told_[index(member)], static_cast<std::uint32_t>(record.computed));
  contacts_.erase(record.address);
  if (is_new && members_.is_here(member)) say(now, fmt::format("{} has come", label(member)));
  if (record.left && !is_new) say(now, fmt::format("{} has left", label(member)));
  if (record.ending && !ending_ && !record.left) begin_ending(*record.ending, now);
}

void Protocol::on_gradient(Link& link, Nanoseconds now) {
  if (!link.gradient) return hang_up(link.id, now);
  const GradientPtr gradient = std::exchange(link.gradient, nullptr);
  link.offered.insert(gradient->name);
  ++link.admitted;
  admit(gradient, now);
  if (link.admitted >= options_.in_flight) report_to(link, now);
  if (relays_at_once())
    for (auto& [id, other] : links_) pump(*other, now);
}

void Protocol::admit(GradientPtr gradient, Nanoseconds now) {
  if (held_.contains(gradient->name)) {
    ++copies_dropped_;
    return;
  }
  note(gradient->compute_set);
  if (members_.me().ready != Hash{}) return held_back_.push_back(std::move(gradient));
  held_.insert(gradient->name);
  samples_ += gradient->samples;
  if (index(gradient->name.origin) >= told_.size()) told_.resize(index(gradient->name.origin) + 1);
  auto& told = told_[index(gradient->name.origin)];
  told = std::max(told, gradient->name.sequence + 1);
  log_.add(gradient, now, relays_at_once());
  if (joined_) {  // before, it becomes part of the first model, without a staleness
    bool somebody_waits = false;
    {
      const std::lock_guard inbox(inbox_.mutex());
      inbox_.add(std::move(gradient), 0);
      somebody_waits = inbox_.ring();
    }
    if (somebody_waits) inbox_.notify();
    if (inbox_.depth() > most_waiting())
      inbox_.fold([](const Gradient&) { return true; }, [](const auto&) {});
  }
  check_budget(now);
}

void Protocol::on(Link& link, const Goodbye& goodbye, Nanoseconds now) {
  link.goodbye = true;
  Member& member = members_[link.member];
  if (goodbye.ended) {
    member.record.names = goodbye.names;
    member.record.ended = true;
    members_.stand(link.member, Standing::ended, now);
    if (!over_ && goodbye.names != roster_.hash(held_)) {
      std::uint64_t mine = 0;
      held_.for_each_range_missing_from(link.reported,
                                        [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
                                          if (o == Membership::self) mine += last - first;
                                        });
      too_late_ = std::max(too_late_, mine);
      say(now, fmt::format("the run has ended; {} of this member's gradients came too late", mine));
      missed_the_end_ = true;
      begin_ending(StopReason::interrupted, now);
    }
  } else {
    members_.stand(link.member, Standing::left, now);
  }
  hang_up(link.id, now);
  settle_end(now);
}

void Protocol::on_want(Link& link, Nanoseconds now) {
  link.wants_model = true;
  link.offered = link.reported;
  if (frozen_ && log_.has_all_of(held_.without(frozen_->names))) return serve(link, *frozen_, now);
  wants_frozen_ = true;
  inbox_.wake();
}

void Protocol::serve(Link& link, const Model& model, Nanoseconds now) {
  link.wants_model = false;
  link.promised = model.names;
  link.offered.unite(model.names);
  link.behind = false;
  link.quick = link.slow = log_.begin();
  transmit(link, Snapshot{model.names, model.samples, options_.format}, std::span(*model.sums),
           model.sums);
  pump(link, now);
}

void Protocol::on_snapshot(Link& link, Nanoseconds now) {
  if (pulling_ == link.id) pulling_.reset();
  pulled_from_ = link.member;
  pulled_at_ = now;
  inbox_.wake();
}

bool Protocol::relays_at_once() const {
  const auto here = members_.here();
  if (here.size() > options_.most_in_mesh) return true;
  return std::any_of(here.begin(), here.end(),
                     [&](WorkerId m) { return members_[m].record.address.empty(); });
}

bool Protocol::can_stream(const Link& link) const {
  return log_.has_all_of(held_.without(link.offered));
}

void Protocol::report_to(Link& link, Nanoseconds now) {
  Record& me = members_.me();
  ++me.version;
  me.t = held_.size();
  me.computed = told_.empty() ? 0 : told_[0];
  me.joined = joined_;
  me.joined_at = joined_at_;
  me.stopped = stopped_;
  me.names = stopped_ ? roster_.hash(held_) : Hash{};
  Report report{held_, can_stream(link), {}};
  link.versions.resize(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Record& record = members_[worker_id(i)].record;
    if (record.version <= link.versions[i]) continue;
    link.versions[i] = record.version;
    report.records.push_back(record);
  }
  link.admitted = 0;
  link.reported_at = now;
  transmit(link, report);
}

void Protocol::report_to_all(Nanoseconds now) {
  for (auto& [id, link] : links_)
    if (link->open) report_to(*link, now);
}

void Protocol::offer(Link& link, const GradientPtr& gradient) {
  link.offered.insert(gradient->name);
  ++sent_.messages;
  transmit(link, GradientMessage{*gradient, gradient->update.shift, options_.format},
           gradient->update.bytes(), gradient);
}

void Protocol::pump(Link& link, Nanoseconds now) {
  if (!link.open || !link.heard_report || link.behind || link.goodbye) return;
  const std::size_t most_queued = std::max<std::size_t>(1 << 20, 4 * update_bytes(options_));
  const auto has_room = [&] { return network_.queued_bytes(link.id) < most_queued; };
  for (link.quick = std::max(link.quick, log_.begin()); link.quick < log_.end(); ++link.quick) {
    const Log::Entry& entry = log_.at(link.quick);
    if (!entry.gradient || !entry.at_once || link.offered.contains(entry.gradient->name)) continue;
    if (!has_room()) return;
    offer(link, entry.gradient);
  }
  for (link.slow = std::max(link.slow, log_.begin()); link.slow < log_.end(); ++link.slow) {
    const Log::Entry& entry = log_.at(link.slow);
    if (!entry.gradient || link.offered.contains(entry.gradient->name)) continue;
    if (entry.since + options_.repair_after > now) return;
    if (!has_room()) return;
    offer(link, entry.gradient);
  }
}

void Protocol::pump(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, link] : links_) pump(*link, now);
}

void Protocol::collect() {
  if (!joined_ || (cut_off_ && !alone_)) return;
  const std::size_t most = most_waiting();
  for (auto& [id, link] : links_) {
    if (!link->open || !link->heard_report || link->behind) continue;
    std::size_t waiting = 0;
    for (std::uint64_t at = log_.begin(); at < log_.end(); ++at)
      if (const auto& g = log_.at(at).gradient) waiting += link->will_have(g->name) ? 0 : 1;
    link->behind = waiting > most;
    // It is no longer awaited, as if it were silent, and may come back with a branch of its own.
    if (link->behind && !split_) wants_split_ = true;
  }
  // Awaited are those who will get what they lack one by one. Of the others only that is kept which
  // they lacked at the split: the rest is the difference to the copy of then.
  std::vector<const GradientSet*> awaited, pinned;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const Member& member = members_[worker_id(i)];
    if (member.standing != Standing::here && member.standing != Standing::silent) continue;
    const Link* link = link_to(worker_id(i));
    const bool streams = link && link->heard_report && !link->behind;
    const bool may_return = (!link || !link->heard_report) && member.standing == Standing::here &&
                            member.reported.size() > 0 && log_.size() <= 2 * most;
    (streams || may_return ? awaited : pinned).push_back(&member.reported);
  }
  const bool pins = split_ || wants_split_;
  log_.collect([&](const Gradient& g) {
    const auto lacks = [&](const GradientSet* reported) { return !reported->contains(g.name); };
    if (std::any_of(awaited.begin(), awaited.end(), lacks)) return true;
    return pins && (!split_ || split_->names.contains(g.name)) &&
           std::any_of(pinned.begin(), pinned.end(), lacks);
  });
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
    if (!is_dialing(address)) dialing_[network_.dial(address)] = address;
  };
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    const bool may_live = member.standing != Standing::left && member.standing != Standing::ended;
    if (!may_live || member.record.address.empty() || now < member.dial_at) continue;
    if (link_to(worker_id(i)) || !wants_link(worker_id(i))) continue;
    const Nanoseconds pause =
        member.standing == Standing::dead ? options_.patience.gone : options_.patience.slowest_dial;
    member.dial_at = now + pause;
    dial(member.record.address);
  }
  const bool has_links =
      std::any_of(links_.begin(), links_.end(), [](const auto& l) { return l.second->open; });
  if (has_links) return;
  for (auto& [address, at] : contacts_) {
    if (now < at) continue;
    at = now + options_.patience.slowest_dial;
    dial(address);
  }
}

bool Protocol::has_silent() const {
  for (std::size_t i = 1; i < members_.size(); ++i)
    if (members_[worker_id(i)].standing == Standing::silent) return true;
  return false;
}

void Protocol::look_for_cut(Nanoseconds now) {
  for (const WorkerId member : members_.find_silent(now)) {
    say(now, fmt::format("{} is silent", label(member)));
    if (const Link* link = link_to(member)) hang_up(link->id, now);
    if (!split_ && joined_) wants_split_ = true;
  }
  const bool cut = joined_ && members_.is_cut_off();
  if (cut && !cut_off_) {
    cut_since_ = now;
    computed_while_cut_ = 0;
    say(now, "cut off from half of the members or more: waiting for them");
  }
  if (!cut && cut_off_) {
    say(now, "no longer cut off");
    alone_ = false;
    inbox_.wake();
  }
  cut_off_ = cut;
  if (cut_off_ && !alone_ && now - cut_since_ > options_.patience.alone) {
    alone_ = true;
    say(now, "going on without those who are silent");
    inbox_.wake();
  }
  if (!split_ || has_silent() || wants_split_) return;
  // Nobody will come with another branch any more once all can have everything one by one.
  const bool settled = std::all_of(links_.begin(), links_.end(), [&](const auto& l) {
    return l.second->open && l.second->heard_report && l.second->peer_can_stream &&
           can_stream(*l.second);
  });
  if (settled && now - split_since_ > options_.patience.gone / 2) split_.reset();
}

void Protocol::tick(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (!begun_) begun_ = now;
  if (!joined_ && now - *begun_ > options_.give_up_after) give_up("no member could be reached");
  look_for_cut(now);
  dial_members(now);
  collect();
  for (auto& [id, link] : links_) {
    if (!link->open) continue;
    if (now - link->reported_at >= options_.report_every) report_to(*link, now);
    pump(*link, now);
  }
  measure(now);
  pull(now);
  if (frozen_ && now - frozen_at_ > 2'000'000'000) frozen_.reset();
  settle_end(now);
}

void Protocol::measure(Nanoseconds now) {
  const double seconds = static_cast<double>(now - measured_at_) * 1e-9;
  if (seconds < 1) return;
  for (auto& [id, link] : links_) {
    link->bytes_per_second = static_cast<double>(link->bytes - link->bytes_before) / seconds;
    link->bytes_before = link->bytes;
  }
  for (std::size_t i = 0; i < std::min(members_.size(), told_.size()); ++i) {
    Member& member = members_[worker_id(i)];
    member.rate = static_cast<double>(told_[i] - member.told_before) / seconds;
    member.told_before = told_[i];
  }
  measured_at_ = now;
}

void Protocol::close(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  members_.me().ended = !members_.me().left;
  for (auto& [id, link] : links_) {
    if (!link->open) continue;
    report_to(*link, now);
    transmit(*link, Goodbye{!members_.me().left, roster_.hash(held_)});
  }
  while (!links_.empty()) hang_up(links_.begin()->first, now);
  closed_ = true;
}

}  // namespace dasgd::elastic
