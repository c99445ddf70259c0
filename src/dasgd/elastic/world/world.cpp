#include "dasgd/elastic/world/world.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/elastic/between_steps.hpp"
#include "dasgd/elastic/world/sim_member.hpp"

namespace dasgd::elastic {

template <typename Real>
World<Real>::World(const Objective<Real>& objective, WorldOptions options, Follower* follower)
    : objective_(objective),
      options_(std::move(options)),
      follower_(follower ? *follower : nobody_),
      random_(options_.seed * 2 + 1) {}

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
  return add(members_.size());
}

template <typename Real>
std::size_t World<Real>::add(std::size_t worker) {
  const std::size_t number = members_.size();
  ProtocolOptions options = options_.protocol;
  options.origin = {random(), random()};
  options.name = fmt::format("w{}", worker);
  options.address = fmt::format("m{}", number);
  options.facts = "model: same";
  options.founder = number == 0;
  options.dimension = objective_.dimension();
  options.format = number_format<Real>;
  for (std::size_t i = 0; i < number; ++i)
    if (members_[i]->alive && !members_[i]->over) options.contacts.push_back(fmt::format("m{}", i));
  members_.push_back(
      std::make_unique<SimMember<Real>>(*this, number, std::move(options), worker, objective_));
  at(now_, [this, number] { tick_of(number); });
  look_soon(number, now_);
  return number;
}

template <typename Real>
Nanoseconds World<Real>::time_of_step(const SimMember<Real>& m, bool computes) {
  if (!computes) return options_.apply;
  if (options_.compute_time)
    return later(options_.compute_time(m.number, m.computed), options_.apply, "apply");
  const double share = 0.5 + static_cast<double>(random() % 1000) * 1e-3;
  return static_cast<Nanoseconds>(share * static_cast<double>(options_.compute));
}

template <typename Real>
void World<Real>::record(std::size_t member, Nanoseconds time, const std::string& what) {
  history_.push_back(fmt::format("{:8.3f} s  {}{}", static_cast<double>(time) * 1e-9,
                                 members_[member]->protocol.options().name, what));
}

template <typename Real>
void World<Real>::record_events(std::size_t member) {
  for (const Event& event : members_[member]->protocol.take_events())
    record(member, event.time, ": " + event.text);
}

template <typename Real>
void World<Real>::tick_of(std::size_t number) {
  SimMember<Real>& m = *members_[number];
  if (!m.alive || m.over) return;
  if (!m.is_awake()) return at(m.frozen_until, [this, number] { tick_of(number); });
  m.protocol.tick(now_);
  m.longest_log = std::max(m.longest_log, m.protocol.log_size());
  record_events(number);
  look_soon(number, now_);
  at(now_ + options_.protocol.report_every, [this, number] { tick_of(number); });
}

template <typename Real>
void World<Real>::look_soon(std::size_t number, Nanoseconds time) {
  if (std::exchange(members_[number]->step_is_due, true)) return;
  at(time, [this, number] { look_of(number); });
}

// Between two steps a worker does what its protocol asks for, and begins the next one. While it is
// busy its replica does not change, so the step is made at once and is complete later. One that has
// nothing to do looks again when a frame has come, and at every tick.
template <typename Real>
void World<Real>::look_of(std::size_t number) {
  SimMember<Real>& m = *members_[number];
  m.step_is_due = false;
  if (!m.alive || m.over) return;
  if (!m.is_awake()) return look_soon(number, m.frozen_until);
  follower_.looks(number);
  m.corrects = false;
  if (do_tasks_of(m)) m.protocol.pump(now_);
  record_events(number);
  if (m.corrects) return finish_step_later(m, true);
  if (m.protocol.is_over() && m.protocol.inbox().depth() == 0) return compare_and_end(m);
  m.stopped = m.protocol.ending().has_value();
  m.good.hear_early_loss(m.protocol.early_loss());
  m.began = now_;
  try {
    m.report = m.worker().step();
  } catch (const Divergence&) {
    if (!m.run.survives()) fail(m, StopReason::diverged);
    return look_soon(number, now_);
  } catch (...) {
    fail(m, StopReason::failed);
    return look_soon(number, now_);
  }
  const bool computes = m.report.kind == StepReport::Kind::computed;
  if (computes || m.report.kind == StepReport::Kind::applied) return finish_step_later(m, computes);
  if (m.report.kind == StepReport::Kind::out_of_samples && !std::exchange(m.has_stopped, true)) {
    m.protocol.stopped(now_);
    m.protocol.tick(now_);
    record_events(number);
  }
}

template <typename Real>
void World<Real>::finish_step_later(SimMember<Real>& m, bool computes) {
  m.step_is_due = true;
  at(later(now_, time_of_step(m, computes), "compute"),
     [this, number = m.number] { finish_step_of(number); });
}

template <typename Real>
void World<Real>::finish_step_of(std::size_t number) {
  SimMember<Real>& m = *members_[number];
  if (!m.alive) return;
  if (!m.is_awake()) return at(m.frozen_until, [this, number] { finish_step_of(number); });
  account(m, m.report);
  if (m.report.kind == StepReport::Kind::computed) m.protocol.pump(now_);
  look_of(number);
}

template <typename Real>
void World<Real>::account(SimMember<Real>& m, const StepReport& report) {
  std::vector<TraceLine> lines;
  try {
    m.run.record(report, m.began, now_, &lines);
    if (m.run.reaches_target()) m.protocol.stop_run(StopReason::target, now_);
  } catch (const Divergence&) {
    fail(m, StopReason::diverged);
  }
  if (options_.keeps_all)
    for (const GradientFacts* g : report.gradients) m.ever.insert(g->name);
  m.give();
  follower_.applied(m.number, std::move(lines));
}

// Whether a copy may be waited for.
template <typename Real>
bool World<Real>::do_tasks_of(SimMember<Real>& m) {
  m.began = now_;
  return between_steps<Real>(
      m.protocol, m.worker(), now_,
      [&](const Adoption& adoption, std::span<const Sum<Real>> sums) {
        follower_.adopts(m.number, adoption, m.worker().t());
        if (options_.keeps_all) m.ever.unite(adoption.names);
        m.run.adopt(adoption.names, sums, adoption.samples);
      },
      [&](const StepReport& report) {
        m.report = report;
        m.corrects = true;
      });
}

template <typename Real>
void World<Real>::fail(SimMember<Real>& m, StopReason why) {
  follower_.failed(m.number, std::current_exception());
  m.protocol.stop_run(why, now_);
}

template <typename Real>
void World<Real>::compare_and_end(SimMember<Real>& m) {
  if (!std::exchange(m.has_sent_digest, true)) {
    m.protocol.compare(digest_of(m.worker()), now_);
    m.protocol.tick(now_);
  }
  if (m.protocol.has_compared(now_)) end(m.number);
}

template <typename Real>
void World<Real>::end(std::size_t number) {
  SimMember<Real>& m = *members_[number];
  m.protocol.close(now_);
  record_events(number);
  m.over = true;
  m.ended_at = now_;
}

template <typename Real>
void World<Real>::kill(std::size_t number, bool host_lives) {
  SimMember<Real>& m = *members_[number];
  m.alive = false;
  ++deaths_[{host_lives ? m.doom.last_step : "with its host", m.protocol.role()}];
  m.host_lives = host_lives;
  m.ended_at = now_;
  record(number, now_, host_lives ? " is killed" : " loses its host");
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
  if (is_alive(member)) members_[member]->doom.frames_left = frames;
}
template <typename Real>
void World<Real>::crash_at(std::size_t member, FatalFrame frame) {
  if (is_alive(member)) members_[member]->doom.fatal = frame;
}
template <typename Real>
void World<Real>::leave(std::size_t member) {
  if (!is_alive(member)) return;
  members_[member]->protocol.leave(now_);
  look_soon(member, now_);
}
template <typename Real>
void World<Real>::freeze(std::size_t member, Nanoseconds duration) {
  auto& m = *members_[member];
  if (m.alive) m.frozen_until = std::max(m.frozen_until, now_ + duration);
}
template <typename Real>
void World<Real>::stop_run(std::size_t member, StopReason why) {
  if (!is_alive(member)) return;
  members_[member]->protocol.stop_run(why, now_);
  look_soon(member, now_);
}

template <typename Real>
void World<Real>::run_until(Nanoseconds time) {
  while (!queue_.empty() && queue_.top().time <= time) {
    Action action = queue_.top();
    queue_.pop();
    now_ = action.time;
    action.run();
  }
  now_ = time;
}

template <typename Real>
bool World<Real>::all_over() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& m) { return !m->alive || m->over; });
}

template <typename Real>
bool World<Real>::run_until_over(Nanoseconds limit) {
  const Nanoseconds until = now_ + limit;
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
  return members_[member]->worker();
}

template class World<float>;
template class World<double>;

}  // namespace dasgd::elastic
