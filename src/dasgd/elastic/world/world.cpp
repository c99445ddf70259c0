#include "dasgd/elastic/world/world.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/between_steps.hpp"
#include "dasgd/elastic/world/inhabitant.hpp"

namespace dasgd::elastic {

template <typename Real>
World<Real>::World(const Objective<Real>& objective, WorldOptions options)
    : objective_(objective), options_(std::move(options)), random_(options_.seed * 2 + 1) {}

template <typename Real>
World<Real>::~World() = default;

template <typename Real>
std::uint64_t World<Real>::random() {
  random_ += 0x9e3779b97f4a7c15ull;
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

template <typename Real>
void World<Real>::at(Nanoseconds time, std::function<void()> action) {
  queue_.push({std::max(time, now_), actions_++, std::move(action)});
}

template <typename Real>
std::size_t World<Real>::add() {
  const std::size_t number = members_.size();
  ProtocolOptions options = options_.protocol;
  options.origin = {random(), random()};
  options.name = fmt::format("w{}", number);
  options.address = fmt::format("m{}", number);
  options.facts = "model: same";
  options.founder = number == 0;
  options.dimension = objective_.dimension();
  options.format = number_format<Real>;
  for (std::size_t i = 0; i < number; ++i)
    if (members_[i]->alive && !members_[i]->over) options.contacts.push_back(fmt::format("m{}", i));
  members_.push_back(
      std::make_unique<Inhabitant<Real>>(*this, number, std::move(options), objective_));
  at(now_, [this, number] { tick_of(number); });
  at(now_, [this, number] { step_of(number); });
  return number;
}

template <typename Real>
Nanoseconds World<Real>::clear_at(std::size_t a, std::size_t b) const {
  Nanoseconds clear = now_;
  for (const Cut& cut : cuts_) {
    const bool side_a = a < cut.side.size() && cut.side[a];
    const bool side_b = b < cut.side.size() && cut.side[b];
    if (side_a != side_b) clear = std::max(clear, cut.until);
  }
  return clear;
}

template <typename Real>
void World<Real>::cut(const std::vector<bool>& side, Nanoseconds duration) {
  std::erase_if(cuts_, [this](const Cut& c) { return c.until <= now_; });
  cuts_.push_back({side, now_ + duration});
}

template <typename Real>
void World<Real>::deliver(std::uint64_t id, std::size_t to) {
  Wire& wire = *wires_.at(id);
  if (wire.scheduled[to] || wire.on_the_way[to].empty()) return;
  wire.scheduled[to] = true;
  at(wire.on_the_way[to].front().time, [this, id, to] {
    Wire& w = *wires_.at(id);
    Inhabitant<Real>& receiver = *members_[w.ends[to]];
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
    tell_events(receiver.number);
    if (receiver.protocol.inbox_depth() > 0 && !receiver.step_is_due) {
      receiver.step_is_due = true;
      at(now_, [this, n = receiver.number] { step_of(n); });
    }
    deliver(id, to);
  });
}

template <typename Real>
void World<Real>::tell_events(std::size_t member) {
  for (const Event& event : members_[member]->protocol.take_events())
    history_.push_back(fmt::format("{:8.3f} s  w{}: {}", static_cast<double>(event.time) * 1e-9,
                                   member, event.text));
}

template <typename Real>
void World<Real>::tick_of(std::size_t number) {
  Inhabitant<Real>& m = *members_[number];
  if (!m.alive || m.over) return;
  if (!m.is_awake()) return at(m.frozen_until, [this, number] { tick_of(number); });
  m.protocol.tick(now_);
  m.longest_log = std::max(m.longest_log, m.protocol.log_size());
  tell_events(number);
  if (!m.step_is_due) {
    m.step_is_due = true;
    at(now_, [this, number] { step_of(number); });
  }
  at(now_ + options_.protocol.report_every, [this, number] { tick_of(number); });
}

template <typename Real>
void World<Real>::step_of(std::size_t number) {
  Inhabitant<Real>& m = *members_[number];
  m.step_is_due = false;
  if (!m.alive || m.over) return;
  if (!m.is_awake()) {
    m.step_is_due = true;
    return at(m.frozen_until, [this, number] { step_of(number); });
  }
  const auto remember = [&](const StepReport& report) {
    for (const GradientFacts* g : report.gradients) {
      m.ledger.record(*g);
      m.ever.insert(g->name);
    }
  };
  between_steps<Real>(
      m.protocol, m.worker, now_,
      [&](const Adoption& adoption, std::span<const Sum<Real>> sums) {
        m.ledger.adopt(adoption.names);
        m.ever.unite(adoption.names);
        m.worker.adopt(adoption.names, sums, adoption.samples);
      },
      remember);
  const StepReport report = m.worker.step();
  remember(report);
  const bool computed = report.kind == StepReport::Kind::computed;
  if (computed) m.protocol.pump(now_);
  if (report.kind == StepReport::Kind::out_of_samples && !m.has_stopped) {
    m.has_stopped = true;
    m.protocol.stopped(now_);
    m.protocol.tick(now_);
  }
  const bool idle = report.kind == StepReport::Kind::no_sample_now;
  if (idle && m.idle_since < 0) m.idle_since = now_;
  if (!idle && m.idle_since >= 0) {
    m.longest_idle = std::max(m.longest_idle, now_ - m.idle_since);
    m.idle_since = -1;
  }
  tell_events(number);
  if (m.protocol.is_over() && m.protocol.inbox_depth() == 0) return end(number);
  Nanoseconds next = now_ + 20'000'000;  // idle: it looks again
  if (computed) {
    const double share = 0.5 + static_cast<double>(random() % 1000) * 1e-3;
    next = now_ + static_cast<Nanoseconds>(share * static_cast<double>(options_.compute));
  } else if (report.kind == StepReport::Kind::applied) {
    next = now_ + 10'000;
  }
  m.step_is_due = true;
  at(next, [this, number] { step_of(number); });
}

template <typename Real>
void World<Real>::end(std::size_t number) {
  Inhabitant<Real>& m = *members_[number];
  m.protocol.close(now_);
  tell_events(number);
  m.over = true;
  m.ended_at = now_;
}

template <typename Real>
void World<Real>::kill(std::size_t number, bool host_lives) {
  Inhabitant<Real>& m = *members_[number];
  m.alive = false;
  ++deaths_[fmt::format("{}, {}", m.protocol.role(), host_lives ? m.last_step : "its host")];
  m.host_lives = host_lives;
  history_.push_back(fmt::format("{:8.3f} s  w{} {}", static_cast<double>(now_) * 1e-9, number,
                                 host_lives ? "is killed" : "loses its host"));
  if (!host_lives) return;
  while (!m.wires.empty()) m.close(m.wires.begin()->first);
}

template <typename Real>
void World<Real>::crash(std::size_t member) {
  if (is_alive(member) && !is_over(member)) kill(member, true);
}
template <typename Real>
void World<Real>::power_off(std::size_t member) {
  if (is_alive(member) && !is_over(member)) kill(member, false);
}
template <typename Real>
void World<Real>::crash_after(std::size_t member, std::uint32_t frames) {
  if (is_alive(member)) members_[member]->frames_left = frames;
}
template <typename Real>
void World<Real>::crash_at(std::size_t member, FatalFrame frame) {
  if (is_alive(member)) members_[member]->fatal = frame;
}
template <typename Real>
void World<Real>::leave(std::size_t member) {
  if (is_alive(member)) members_[member]->protocol.leave(now_);
}
template <typename Real>
void World<Real>::freeze(std::size_t member, Nanoseconds duration) {
  auto& m = *members_[member];
  if (m.alive) m.frozen_until = std::max(m.frozen_until, now_ + duration);
}
template <typename Real>
void World<Real>::stop_run(std::size_t member) {
  if (is_alive(member)) members_[member]->protocol.stop_run(StopReason::interrupted, now_);
}

template <typename Real>
void World<Real>::run_for(Nanoseconds duration) {
  const Nanoseconds until = now_ + duration;
  while (!queue_.empty() && queue_.top().time <= until) {
    Action action = queue_.top();
    queue_.pop();
    now_ = action.time;
    action.run();
  }
  now_ = until;
}

template <typename Real>
bool World<Real>::run_until_over(Nanoseconds limit) {
  const Nanoseconds until = now_ + limit;
  const auto all_over = [this] {
    return std::all_of(members_.begin(), members_.end(),
                       [](const auto& m) { return !m->alive || m->over; });
  };
  while (now_ < until && !all_over()) run_for(options_.protocol.report_every);
  return all_over();
}

template <typename Real>
bool World<Real>::is_alive(std::size_t member) const {
  return members_[member]->alive;
}
template <typename Real>
bool World<Real>::is_doomed(std::size_t member) const {
  return members_[member]->is_doomed();
}
template <typename Real>
std::size_t World<Real>::longest_log() const {
  std::size_t longest = 0;
  for (const auto& m : members_) longest = std::max(longest, m->longest_log);
  return longest;
}
template <typename Real>
bool World<Real>::is_over(std::size_t member) const {
  return members_[member]->over;
}
template <typename Real>
const Protocol& World<Real>::protocol(std::size_t member) const {
  return members_[member]->protocol;
}
template <typename Real>
const Worker<Real>& World<Real>::worker(std::size_t member) const {
  return members_[member]->worker;
}
template <typename Real>
const Ledger& World<Real>::ledger(std::size_t member) const {
  return members_[member]->ledger;
}

template class World<float>;
template class World<double>;

}  // namespace dasgd::elastic
