// What carries frames from one member to another, and what keeps them from it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "dasgd/elastic/world/sim_member.hpp"

namespace dasgd::elastic {

template <typename Real>
Nanoseconds World<Real>::clear_at(std::size_t a, std::size_t b) const {
  Nanoseconds clear = now_;
  for (const Cut& cut : cuts_)
    if (cut.separates(a, b)) clear = std::max(clear, cut.until);
  return clear;
}

template <typename Real>
void World<Real>::cut(Separates separates, Nanoseconds duration) {
  std::erase_if(cuts_, [this](const Cut& c) { return c.until <= now_; });
  cuts_.push_back({std::move(separates), now_ + duration});
}

template <typename Real>
void World<Real>::cut(const std::vector<bool>& side, Nanoseconds duration) {
  const auto is_second = [side](std::size_t member) {
    return member < side.size() && side[member];
  };
  cut([is_second](std::size_t a, std::size_t b) { return is_second(a) != is_second(b); }, duration);
}

template <typename Real>
Nanoseconds World<Real>::arrival(std::size_t from, std::size_t to, std::size_t bytes) {
  if (options_.arrival) return options_.arrival(from, to, bytes, now_);
  const auto jitter = random() % static_cast<std::uint64_t>(options_.latency + 1);
  return now_ + options_.latency + static_cast<Nanoseconds>(jitter);
}

template <typename Real>
void World<Real>::deliver(std::uint64_t id, std::size_t to) {
  Wire& wire = *wires_.at(id);
  if (wire.scheduled[to] || wire.on_the_way[to].empty()) return;
  wire.scheduled[to] = true;
  at(wire.on_the_way[to].front().time, [this, id, to] {
    Wire& w = *wires_.at(id);
    SimMember<Real>& receiver = *members_[w.ends[to]];
    w.scheduled[to] = false;
    if (!receiver.alive || !w.open[to]) return;
    const Nanoseconds clear = std::max(clear_at(w.ends[0], w.ends[1]), receiver.frozen_until);
    if (clear > now_) {
      w.on_the_way[to].front().time = clear;
      return deliver(id, to);
    }
    auto frame = std::move(w.on_the_way[to].front());
    w.on_the_way[to].pop_front();
    w.bytes[to] -= frame.header.size() + frame.body.size();
    if (frame.last) {
      w.open[to] = false;
      receiver.wires.erase(w.ids[to]);
      receiver.protocol.lost(w.ids[to], now_);
    } else {
      const auto place = receiver.protocol.body(w.ids[to], frame.header, frame.body.size(), now_);
      if (place) {
        if (!frame.body.empty()) std::memcpy(place->data(), frame.body.data(), frame.body.size());
        receiver.protocol.received(w.ids[to], frame.header, now_);
      } else {
        receiver.close(w.ids[to]);
        receiver.protocol.lost(w.ids[to], now_);
      }
    }
    record_events(receiver.number);
    look_soon(receiver.number, now_);
    if (SimMember<Real>& sender = *members_[w.ends[1 - to]]; sender.alive) {
      sender.protocol.pump(now_);
      record_events(sender.number);
    }
    deliver(id, to);
  });
}

#define DASGD_INSTANTIATE(Real)                                                     \
  template Nanoseconds World<Real>::clear_at(std::size_t, std::size_t) const;       \
  template void World<Real>::cut(Separates, Nanoseconds);                           \
  template void World<Real>::cut(const std::vector<bool>&, Nanoseconds);            \
  template Nanoseconds World<Real>::arrival(std::size_t, std::size_t, std::size_t); \
  template void World<Real>::deliver(std::uint64_t, std::size_t);
DASGD_INSTANTIATE(float)
DASGD_INSTANTIATE(double)
#undef DASGD_INSTANTIATE

}  // namespace dasgd::elastic
