#include "dasgd/elastic/world/world.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dasgd/core/update_rule.hpp"
#include "dasgd/elastic/between_steps.hpp"

namespace dasgd::elastic {

// A member's samples: one batch after the other, while the protocol lets it compute.
class Supply final : public SampleSource {
 public:
  Supply(const Protocol& protocol, std::size_t samples, std::size_t batch, std::uint64_t seed)
      : protocol_(protocol),
        samples_(samples),
        rows_(std::max<std::size_t>(1, batch)),
        seed_(seed) {}
  Draw next() override {
    if (protocol_.ending()) return Draw::no_more();
    if (!protocol_.may_compute()) return Draw::none_now();
    for (std::uint32_t& row : rows_) {
      seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
      row = static_cast<std::uint32_t>((seed_ >> 33) % samples_);
    }
    return Draw::batch(rows_, number_++);
  }

 private:
  const Protocol& protocol_;
  const std::size_t samples_;
  std::vector<std::uint32_t> rows_;
  std::uint64_t seed_, number_ = 0;
};

template <typename Real>
class PlainRule final : public UpdateRule<Real> {
 public:
  explicit PlainRule(double eta) : eta_(eta) {}
  double prepare(std::uint64_t, Replica<Real>&, std::span<Real>) override { return eta_; }

 private:
  const double eta_;
};

/// A connection between two members; each end has a number of its own.
template <typename Real>
struct World<Real>::Wire {
  std::size_t ends[2];
  LinkId ids[2];
  bool open[2] = {true, true};
  struct Frame {
    Bytes header;
    std::span<const std::byte> body;
    std::shared_ptr<const void> keeper;
    bool last = false;  // the other end hung up
    Nanoseconds time = 0;
  };
  std::deque<Frame> on_the_way[2];  // to that end
  std::size_t bytes[2] = {0, 0};
  bool scheduled[2] = {false, false};
};

template <typename Real>
struct Inhabitant final : Network, Channel {
  Inhabitant(World<Real>& w, std::size_t n, ProtocolOptions options,
             const Objective<Real>& objective)
      : world(w),
        number(n),
        protocol(std::move(options), *this),
        supply(protocol, objective.samples(), w.options_.batch, w.random()),
        rule(w.options_.eta),
        worker(Membership::self, objective.start(), objective.make_oracle(Membership::self), rule,
               supply, *this, max_fused) {}

  // Network
  LinkId dial(const std::string& address) override {
    const LinkId link{world.next_link_++};
    const auto target = static_cast<std::size_t>(std::stoul(address.substr(1)));
    world.at(world.now_ + world.options_.latency, [this, link, target] { connect(link, target); });
    return link;
  }
  void connect(LinkId link, std::size_t target);
  void send(LinkId link, Bytes header, std::span<const std::byte> body,
            std::shared_ptr<const void> keeper) override;
  std::size_t queued_bytes(LinkId link) const override;
  void close(LinkId link) override;

  // Channel
  void receive(std::size_t limit, Received& received) override { protocol.take(limit, received); }
  std::shared_ptr<Gradient> blank() override { return std::make_shared<Gradient>(); }
  void send(GradientPtr gradient) override {
    const auto key = std::pair(protocol.options().origin, gradient->name.sequence);
    if (!world.made_.emplace(key, gradient).second) world.wrong_ = "a name was used twice";
    ever.insert(gradient->name);
    protocol.own(std::move(gradient), world.now_);
  }
  void applied(const Received&) override {}
  Nanoseconds now() const override { return world.now_; }

  // True when the member lives and is not standing still; else, when to try again.
  bool is_awake() const { return alive && world.now_ >= frozen_until; }

  World<Real>& world;
  const std::size_t number;
  bool alive = true, host_lives = true, over = false;
  Nanoseconds frozen_until = 0, idle_since = -1, longest_idle = 0, ended_at = 0;
  std::uint32_t frames_left = 0;                          // 0: no limit
  std::map<LinkId, std::pair<std::uint64_t, int>> wires;  // by our number: which, and which end
  Protocol protocol;
  Supply supply;
  PlainRule<Real> rule;
  Worker<Real> worker;
  Ledger ledger;
  GradientSet ever;  // all that was in its model at some time
  bool step_is_due = false, has_stopped = false;
  std::size_t longest_log = 0;
};

template <typename Real>
void Inhabitant<Real>::connect(LinkId link, std::size_t target) {
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
void Inhabitant<Real>::send(LinkId link, Bytes header, std::span<const std::byte> body,
                            std::shared_ptr<const void> keeper) {
  const auto at = wires.find(link);
  if (at == wires.end() || !alive) return;
  if (frames_left > 0 && --frames_left == 0) {
    // Not from here: the protocol is in the middle of something.
    world.at(world.now_, [this] { world.kill(number, true); });
    alive = false;
    return;
  }
  const auto [id, end] = at->second;
  auto& wire = *world.wires_.at(id);
  if (!wire.open[end]) return;
  const int to = 1 - end;
  const Nanoseconds jitter = static_cast<Nanoseconds>(
      world.random() % static_cast<std::uint64_t>(world.options_.latency + 1));
  Nanoseconds time = world.now_ + world.options_.latency + jitter;
  if (!wire.on_the_way[to].empty()) time = std::max(time, wire.on_the_way[to].back().time);
  wire.bytes[to] += header.size() + body.size();
  wire.on_the_way[to].push_back({std::move(header), body, std::move(keeper), false, time});
  world.deliver(id, static_cast<std::size_t>(to));
}

template <typename Real>
std::size_t Inhabitant<Real>::queued_bytes(LinkId link) const {
  const auto at = wires.find(link);
  return at == wires.end() ? 0 : world.wires_.at(at->second.first)->bytes[1 - at->second.second];
}

template <typename Real>
void Inhabitant<Real>::close(LinkId link) {
  const auto at = wires.find(link);
  if (at == wires.end()) return;
  const auto [id, end] = at->second;
  wires.erase(at);
  auto& wire = *world.wires_.at(id);
  wire.open[end] = false;
  const int to = 1 - end;
  Nanoseconds time = world.now_ + world.options_.latency;
  if (!wire.on_the_way[to].empty()) time = std::max(time, wire.on_the_way[to].back().time);
  wire.on_the_way[to].push_back({{}, {}, nullptr, true, time});
  world.deliver(id, static_cast<std::size_t>(to));
}

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

template <typename Real>
std::string World<Real>::verify() const {
  if (!wrong_.empty()) return wrong_;
  for (const auto& member : members_) {
    const Inhabitant<Real>& m = *member;
    if (!m.alive || !m.over || !m.protocol.has_joined()) continue;
    const std::string who = fmt::format("w{}: ", m.number);
    const GradientSet& names = m.worker.applied();
    if (!(names == m.protocol.held())) return who + "it applied something else than it holds";
    if (m.worker.duplicated() > 0) return who + "a gradient was applied twice";
    // x = x^0 + the sum of what its names mean.
    std::vector<Sum<Real>> sums = sums_of<Real>(objective_.start());
    std::uint64_t samples = 0;
    bool known = true;
    const auto numbering = m.protocol.numbering();
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      for (; known && first < last; ++first) {
        const auto made = made_.find({numbering[index(o)].first, first});
        known = made != made_.end();
        if (!known) break;
        const Addend<Real> one{made->second->update.template numbers<Real>().data(),
                               made->second->update.shift};
        (void)add_fused<Real>(std::span(&one, 1), sums);
        samples += made->second->samples;
      }
    });
    if (!known) return who + "it holds a name that nobody made";
    const auto held = m.worker.replica().sums();
    if (!std::equal(sums.begin(), sums.end(), held.begin(), held.end()))
      return who + "its model is not the sum of its names";
    if (samples != m.worker.samples()) return who + "its samples do not add up";
    const Protocol::Audit audit = m.protocol.audit();
    GradientSet kept = names;
    kept.unite(audit.abandoned);
    if (m.ever.count_missing_from(kept) > 0)
      return who + fmt::format("{} gradients that it had applied are gone and not listed",
                               m.ever.count_missing_from(kept));
    for (const auto& [name, lost] : audit.lost_gradients)
      if (lost == 0) return who + "a loss of nothing is listed";
  }
  return {};
}

template class World<float>;
template class World<double>;

}  // namespace dasgd::elastic
