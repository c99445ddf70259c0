#include "elastic/small_world.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "elastic/liar.hpp"
#include "elastic/machine.hpp"

namespace dasgd::elastic::test {

constexpr int ticks_of_a_pause = 7;  // four times the longest gap, and more than `gone`

std::string Action::text() const {
  static constexpr std::array names{"deliver", "connect", "reset", "tick", "pause", "look",
                                    "crash",   "cut",     "heal",  "join", "leave", "lie"};
  const std::string who = fmt::format("{} w{}", names[static_cast<std::size_t>(kind)], member);
  if (kind == Kind::lie) return fmt::format("lie {} to w{}", link, member);
  if (kind > Kind::reset) return who;
  return who + fmt::format(" link {} to end {}", link, to);
}

SmallWorld::SmallWorld(const SmallWorldOptions& options)
    : options_(options),
      lies_left_(options.lies),
      may_crash_(options.crash),
      may_cut_(options.cut),
      may_join_(options.join),
      may_leave_(options.leave) {
  for (std::size_t i = 0; i < options_.members; ++i) add(true);
  last_ = machines_.size() - 1;
  link_all();
  if (options_.lies == 0) return;
  for (auto& m : machines_) liars_.emplace_back(*m, *machines_[m->number == 0 ? 1 : 0]);
}

SmallWorld::~SmallWorld() = default;

void SmallWorld::add(bool founder) {
  machines_.push_back(std::make_unique<Machine>(*this, machines_.size(), founder));
}

void SmallWorld::link_all() {
  for (auto& m : machines_) m->tick();
  for (auto& m : machines_)
    while (!m->dials.empty()) connect(m->number, m->dials.begin()->first);
  for (bool something = true; something;) {
    something = false;
    for (auto& [id, wire] : wires_)
      for (const int to : {0, 1})
        for (; !wire.on_the_way[static_cast<std::size_t>(to)].empty(); something = true)
          deliver(wire, to);
  }
}

std::vector<Action> SmallWorld::possible() const {
  using Kind = Action::Kind;
  std::vector<Action> all;
  if (options_.eager)
    for (const auto& m : machines_)
      if (m->is_in() && m->has_something_to_do() && !m->is_to_compute())
        return {{Kind::look, m->number}};
  for (const auto& [id, wire] : wires_)
    for (const std::size_t to : {0u, 1u}) {
      if (wire.on_the_way[to].empty() || !wire.open[to] || is_cut(wire)) continue;
      if (!machines_[wire.ends[to]]->is_in()) continue;
      all.push_back({Kind::deliver, id.first, id.second, static_cast<int>(to)});
      if (!machines_[wire.ends[1 - to]]->alive && !wire.on_the_way[to].front().last)
        all.push_back({Kind::reset, id.first, id.second, static_cast<int>(to)});
    }
  for (const auto& machine : machines_) {
    const Machine& m = *machine;
    if (!m.is_in()) continue;
    for (const auto& [link, target] : m.dials) all.push_back({Kind::connect, m.number, link});
    if (m.has_something_to_do()) all.push_back({Kind::look, m.number});
    if (m.ticks_left > 0) all.push_back({Kind::tick, m.number});
    if (m.pauses_left > 0) all.push_back({Kind::pause, m.number});
  }
  const bool is_last_in = machines_[last_]->is_in();
  if (may_crash_ && is_last_in) all.push_back({Kind::crash, last_});
  if (may_leave_ && is_last_in) all.push_back({Kind::leave, last_});
  if (may_cut_) all.push_back({Kind::cut, last_});
  if (cut_) all.push_back({Kind::heal, last_});
  if (may_join_) all.push_back({Kind::join, machines_.size()});
  for (std::size_t i = 0; lies_left_ > 0 && i < liars_.size(); ++i)
    for (std::uint64_t lie = 0; machines_[i]->is_in() && lie < Liar::kinds; ++lie)
      all.push_back({Kind::lie, i, lie});
  return all;
}

void SmallWorld::act(const Action& action) {
  switch (action.kind) {
    case Action::Kind::deliver:
      return deliver(wires_.at({action.member, action.link}), action.to);
    case Action::Kind::connect:
      return connect(action.member, action.link);
    case Action::Kind::reset: {
      Wire& wire = wires_.at({action.member, action.link});
      wire.on_the_way[static_cast<std::size_t>(action.to)].clear();
      return hand_over(wire, action.to, {{}, {}, true});
    }
    case Action::Kind::tick:
      --machines_[action.member]->ticks_left;
      return machines_[action.member]->tick();
    case Action::Kind::pause:
      --machines_[action.member]->pauses_left;
      for (int i = 0; i < ticks_of_a_pause; ++i) machines_[action.member]->tick();
      return;
    case Action::Kind::look:
      return machines_[action.member]->look();
    case Action::Kind::crash: {
      may_crash_ = false;
      Machine& m = *machines_[action.member];
      m.alive = false;
      while (!m.wires.empty()) m.close(m.wires.begin()->first);
      return;
    }
    case Action::Kind::cut:
      may_cut_ = false;
      cut_ = true;
      return;
    case Action::Kind::heal:
      cut_ = false;
      return;
    case Action::Kind::join:
      may_join_ = false;
      return add(false);
    case Action::Kind::lie:
      --lies_left_;
      return liars_[action.member].lie(action.link);
    case Action::Kind::leave:
      may_leave_ = false;
      return machines_[action.member]->protocol.leave(machines_[action.member]->clock);
  }
}

void SmallWorld::connect(std::size_t member, std::uint64_t link) {
  Machine& m = *machines_[member];
  const std::size_t target = m.dials.at(link);
  m.dials.erase(link);
  Machine& other = *machines_[target];
  if (is_cut(member, target) || !other.is_in())
    return m.protocol.dial_failed(LinkId{link}, !is_cut(member, target), m.clock);
  const LinkId there{++other.links};
  const WireId id{member, link};
  wires_[id] = {{member, target}, {LinkId{link}, there}};
  m.wires[LinkId{link}] = {id, 0};
  other.wires[there] = {id, 1};
  m.protocol.linked(LinkId{link}, true, m.clock);
  other.protocol.linked(there, false, other.clock);
}

void SmallWorld::deliver(Wire& wire, int to) {
  auto& queue = wire.on_the_way[static_cast<std::size_t>(to)];
  const Frame frame = std::move(queue.front());
  queue.pop_front();
  if (wire.open[static_cast<std::size_t>(to)]) hand_over(wire, to, frame);
}

void SmallWorld::hand_over(Wire& wire, int to, const Frame& frame) {
  const auto end = static_cast<std::size_t>(to);
  Machine& m = *machines_[wire.ends[end]];
  if (!m.is_in()) return;
  const LinkId id = wire.ids[end];
  if (frame.last) {
    wire.open[end] = false;
    m.wires.erase(id);
    return m.protocol.lost(id, m.clock);
  }
  hand_over(m, id, frame);
}

void SmallWorld::hand_over(Machine& m, LinkId id, const Frame& frame) {
  const auto place = m.protocol.body(id, frame.header, frame.body.size(), m.clock);
  if (!place) {
    m.close(id);
    return m.protocol.lost(id, m.clock);
  }
  if (!frame.body.empty()) std::memcpy(place->data(), frame.body.data(), frame.body.size());
  m.protocol.received(id, frame.header, m.clock);
}

// Ticks come only where nothing else can be done.
void SmallWorld::round() {
  constexpr int more_than_enough = 10'000;
  for (int i = 0; i < more_than_enough; ++i) {
    const auto all = possible();
    const auto next = std::find_if(all.begin(), all.end(), [](const Action& a) {
      using Kind = Action::Kind;
      return a.kind == Kind::deliver || a.kind == Kind::connect || a.kind == Kind::look;
    });
    if (next == all.end()) break;
    act(*next);
  }
  for (auto& m : machines_)
    if (m->is_in()) m->tick();
}

bool SmallWorld::run_to_the_end() {
  lies_left_ = 0;
  cut_ = may_crash_ = may_cut_ = may_join_ = may_leave_ = false;
  constexpr int most_rounds = 300;
  const auto all_over = [this] {
    return std::none_of(machines_.begin(), machines_.end(),
                        [](const auto& m) { return m->is_in(); });
  };
  for (int i = 0; i < most_rounds && !all_over(); ++i) round();
  return all_over();
}

std::uint64_t SmallWorld::state() const {
  StateOf state;
  state(may_crash_, may_cut_, may_join_, may_leave_, cut_, lies_left_);
  for (const Liar& liar : liars_) state(liar.lies);
  for (const auto& [id, wire] : wires_) {
    state(id, wire.open);
    for (const std::size_t to : {0u, 1u}) {
      if (!wire.open[to]) continue;  // nobody will read it
      state(wire.on_the_way[to].size());
      for (const Frame& frame : wire.on_the_way[to]) state(frame.header, frame.body, frame.last);
    }
  }
  for (const auto& m : machines_) {
    state(m->alive, m->over);
    if (!m->alive) continue;
    state(m->has_stopped, m->has_sent_digest, m->clock, m->left, m->ticks_left, m->pauses_left,
          m->links, m->dials, m->worker.applied(), m->worker.computed(), m->worker.replica().sums(),
          m->protocol);
  }
  return state.hash;
}

// Whoever says that it is the same as somebody is.
std::string SmallWorld::wrong_after_lies() const {
  for (const auto& m : machines_)
    for (const auto& [name, digest] : m->protocol.audit().digests)
      for (const auto& other : machines_)
        if (name == other->protocol.options().name && digest == digest_of(m->worker) &&
            digest_of(other->worker) != digest)
          return fmt::format("w{} takes itself to be the same as {}", m->number, name);
  return {};
}

std::string SmallWorld::wrong() const {
  if (!wrong_.empty()) return wrong_;
  if (options_.lies > 0) return {};
  for (const auto& machine : machines_) {
    const Machine& m = *machine;
    const std::string who = fmt::format("w{}: ", m.number);
    if (m.worker.duplicated() > 0) return who + "a gradient was applied twice";
    const GradientSet held = m.protocol.held();
    if (m.worker.applied().count_missing_from(held) > 0)
      return who + "it does not hold what it applied";
    if (m.protocol.has_joined() && !StateOf::has_task(m.protocol) &&
        held.size() != m.worker.t() + m.protocol.inbox().depth())
      return who + "what it holds is neither applied nor waits";
    std::array<std::int64_t, dimension> sums{};
    const auto numbering = m.protocol.numbering();
    bool known = true;
    m.worker.applied().for_each_range_missing_from(
        {}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
          for (; first < last; ++first) {
            const auto made = made_.find({numbering[index(o)].first, first});
            known = known && made != made_.end();
            if (!known) return;
            const auto numbers = made->second->update.numbers<float>();
            for (std::size_t k = 0; k < dimension; ++k)
              sums[k] += static_cast<std::int64_t>(numbers[k]) << made->second->update.shift;
          }
        });
    if (!known) return who + "it applied a name that nobody made";
    const auto mine = m.worker.replica().sums();
    if (!std::equal(sums.begin(), sums.end(), mine.begin(), mine.end()))
      return who + "its model is not the sum of its names";
    GradientSet kept = held;
    kept.unite(m.protocol.audit().abandoned);
    if (m.ever.count_missing_from(kept) > 0)
      return who + "what it had applied is gone and not listed";
  }
  return {};
}

std::string SmallWorld::wrong_at_the_end() const {
  if (options_.lies > 0) return wrong_after_lies();
  if (std::string what = wrong(); !what.empty()) return what;
  const Machine* first = nullptr;
  for (const auto& machine : machines_) {
    const Machine& m = *machine;
    const auto audit = m.protocol.audit();
    const std::string who = fmt::format("w{}: ", m.number);
    if (!m.alive) continue;
    if (!m.protocol.has_joined()) {
      if (m.protocol.could_not_join().empty()) return who + "it never joined and does not know why";
      continue;
    }
    if (audit.has_left) continue;
    if (options_.pauses == 0 && audit.abandoned.size() > 0) return who + "it gave something up";
    for (const auto& [name, digest] : audit.digests)
      if (digest != audit.digests.front().second) return who + "it differs from " + name;
    if (options_.pauses > 0) continue;  // silence may have set some apart
    if (!audit.agreed) return who + "it did not come to the end with the others";
    if (first && audit.names != first->protocol.audit().names)
      return who + "it ended with other names than the first";
    if (!first) first = &m;
  }
  return {};
}

std::string SmallWorld::describe() const {
  std::string text;
  for (const auto& m : machines_)
    text += fmt::format("w{} alive {} over {}: {}\n", m->number, m->alive, m->over,
                        m->protocol.describe());
  return text;
}

}  // namespace dasgd::elastic::test
