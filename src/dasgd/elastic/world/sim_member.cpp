#include "dasgd/elastic/world/sim_member.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace dasgd::elastic {

template <typename Real>
void SimMember<Real>::connect(LinkId link, std::size_t target) {
  if (!is_awake()) {
    if (alive) world.at(frozen_until, [this, link, target] { connect(link, target); });
    return;
  }
  const bool exists = target < world.members_.size();
  const bool reachable = exists && world.members_[target]->host_lives &&
                         world.clear_at(number, target) <= world.now_ &&
                         world.members_[target]->frozen_until <= world.now_;
  if (!reachable) {  // nothing comes back
    world.at(world.now_ + 1'000'000'000, [this, link] {
      if (alive) protocol.dial_failed(link, false, world.now_);
    });
    return;
  }
  auto& other = *world.members_[target];
  if (!other.alive || other.over) return protocol.dial_failed(link, true, world.now_);
  const LinkId there{world.next_link_++};
  const std::uint64_t id = static_cast<std::uint64_t>(link);
  auto wire = std::make_unique<typename World<Real>::Wire>();
  wire->ends[0] = number;
  wire->ends[1] = target;
  wire->ids[0] = link;
  wire->ids[1] = there;
  wires[link] = {id, 0};
  other.wires[there] = {id, 1};
  world.wires_[id] = std::move(wire);
  protocol.linked(link, true, world.now_);
  other.protocol.linked(there, false, world.now_);
}

template <typename Real>
void SimMember<Real>::send(LinkId link, Bytes header, std::span<const std::byte> body,
                           std::shared_ptr<const void> keeper) {
  const auto at = wires.find(link);
  if (at == wires.end() || !alive) return;
  const std::size_t kind = is_doomed() ? kind_of(header).value() : 0;
  const bool is_fatal = doom.counts_down_to(kind);
  const bool is_sent = !is_fatal || (doom.fatal && doom.fatal->is_sent);
  if (is_fatal) {
    doom.last_step = fmt::format("{} a {}", is_sent ? "after" : "before", kind_names[kind]);
    // Not from here: the protocol is in the middle of something.
    world.at(world.now_, [this] { world.kill(number, true); });
    alive = false;
  }
  if (!is_sent) return;
  const auto [id, end] = at->second;
  auto& wire = *world.wires_.at(id);
  if (!wire.open[end]) return;
  const int to = 1 - end;
  if (world.options_.mangle) world.options_.mangle(header);
  Nanoseconds time = world.arrival(number, wire.ends[to], header.size() + body.size());
  if (!wire.on_the_way[to].empty()) time = std::max(time, wire.on_the_way[to].back().time);
  wire.bytes[to] += header.size() + body.size();
  wire.on_the_way[to].push_back({std::move(header), body, std::move(keeper), false, time});
  world.deliver(id, static_cast<std::size_t>(to));
}

template <typename Real>
std::size_t SimMember<Real>::queued_bytes(LinkId link) const {
  const auto at = wires.find(link);
  if (at == wires.end()) return 0;
  const std::size_t bytes = world.wires_.at(at->second.first)->bytes[1 - at->second.second];
  return bytes - std::min(bytes, world.options_.kernel_bytes);
}

template <typename Real>
void SimMember<Real>::close(LinkId link) {
  const auto at = wires.find(link);
  if (at == wires.end()) return;
  const auto [id, end] = at->second;
  wires.erase(at);
  auto& wire = *world.wires_.at(id);
  wire.open[end] = false;
  const int to = 1 - end;
  Nanoseconds time = world.arrival(number, wire.ends[to], 0);
  if (!wire.on_the_way[to].empty()) time = std::max(time, wire.on_the_way[to].back().time);
  wire.on_the_way[to].push_back({{}, {}, nullptr, true, time});
  world.deliver(id, static_cast<std::size_t>(to));
}

template <typename Real>
void SimMember<Real>::give() {
  for (; !made.empty(); made.pop_front()) {
    const GradientPtr& own = made.front();
    ++computed;
    if (world.options_.keeps_all) {
      const auto key = std::pair(protocol.options().origin, own->name.sequence);
      if (!world.made_.emplace(key, own).second) world.wrong_ = "a name was used twice";
      ever.insert(own->name);
    }
    protocol.own(own, world.now_);
  }
}

template <typename Real>
WorkerReport SimMember<Real>::account() const {
  const Protocol::Audit audit = protocol.audit();
  WorkerReport all = run.report();
  all.computed = computed;
  all.sent = audit.sent;
  all.copies_dropped = audit.copies_dropped;
  return all;
}

template struct SimMember<float>;
template struct SimMember<double>;

}  // namespace dasgd::elastic
