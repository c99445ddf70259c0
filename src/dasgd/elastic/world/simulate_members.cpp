#include "dasgd/elastic/world/simulate_members.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/elastic/member_figures.hpp"
#include "dasgd/elastic/options_of_run.hpp"
#include "dasgd/elastic/world/recorder.hpp"
#include "dasgd/elastic/world/sim_member.hpp"
#include "dasgd/run/conclude.hpp"
#include "dasgd/run/judge.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/virtual_time/links.hpp"

namespace dasgd::elastic {
namespace {

// Links between all who ever come. Cuts and stops are the world's business.
VirtualWorld without_cuts(VirtualWorld world) {
  world.chaos.partitions.clear();
  world.chaos.pauses.clear();
  return world;
}

Graph full_graph(TrainOptions options, std::size_t workers) {
  options.workers = workers;
  options.topology = "full";
  options.graph.reset();
  options.relay.reset();
  return graph_of(options);
}

template <typename Real>
class MembersRun final : Follower {
 public:
  MembersRun(const Objective<Real>& objective, const TrainOptions& options,
             const VirtualWorld& world, const Scenario& scenario)
      : objective_(objective),
        options_(options),
        given_(world),
        times_(without_cuts(world)),
        come_(join_times(scenario.membership_plan, options.workers, world.start)),
        links_(times_, full_graph(options, come_.size()), options.seed),
        judge_(objective, options),
        world_(objective, world_options(scenario), this),
        record_(options, world_, come_.size()) {
    plan(scenario.membership_plan);
  }

  MembersResult<Real> run() {
    for (const MembershipEvent& next : plan_) {
      if (next.at > 0) advance_to(next.at);
      if (world_.size() > 0 && world_.all_over()) {
        if (!next.what.empty()) result_.too_late.push_back(next.what);
        continue;
      }
      next.happen();
    }
    while (!world_.all_over()) advance_to(world_.now() + slice);
    flush(true);
    return conclude();
  }

 private:
  static constexpr Nanoseconds slice = 200'000'000;
  static constexpr Nanoseconds longest_silence = 3'600'000'000'000;

  struct MembershipEvent {
    Nanoseconds at = 0;
    std::string what;  // for a person; empty: it does not matter if the run is over
    std::function<void()> happen;
  };

  WorldOptions world_options(const Scenario& scenario) {
    WorldOptions w;
    w.run = options_;
    w.seed = options_.seed;
    w.fuse = 1;
    w.keeps_all = false;
    w.apply = given_.apply;
    if (given_.nic || given_.bandwidth) w.kernel_bytes = most_unsent;
    w.compute_time = [this](std::size_t member, std::uint64_t k) {
      return compute_time(worker_of(member), k);
    };
    w.arrival = [this](std::size_t from, std::size_t to, std::size_t bytes, Nanoseconds now) {
      return arrival(worker_of(from), worker_of(to), bytes, now);
    };
    take_options_of_run(objective_, options_, w.protocol);
    w.protocol.patience = scenario.patience;
    w.protocol.merge = scenario.merge;
    return w;
  }

  // Whoever joins is as fast as usual; of times per worker it takes one over.
  Nanoseconds compute_time(std::size_t worker, std::uint64_t k) const {
    const std::size_t items = times_.compute.items();
    const Nanoseconds drawn = times_.compute.draw(options_.seed, Purpose::compute_time,
                                                  items > 0 ? worker % items : worker, k);
    const double slow = worker < options_.workers ? slow_factor(options_, worker_id(worker)) : 1;
    return slow == 1 ? drawn : duration(static_cast<double>(drawn) * slow, "slow");
  }

  Nanoseconds arrival(std::size_t from, std::size_t to, std::size_t bytes, Nanoseconds now) {
    if (links_.uniform()) return later(now, links_.uniform_latency(), "latency");
    return links_.send(worker_id(from), to < from ? to : to - 1, bytes, now).first;
  }

  void plan(const MembershipPlan& membership_plan) {
    const auto add = [&](Nanoseconds at, std::string what, std::function<void()> happen) {
      plan_.push_back({at, std::move(what), std::move(happen)});
    };
    for (std::size_t w = 0; w < come_.size(); ++w)
      add(come_[w], fmt::format("worker {} joins at {}", w, show(come_[w])), [this, w] {
        (void)world_.add(w);
        record_.comes(w);
      });
    for (const auto& c : membership_plan.crashes)
      add(c.at, fmt::format("`elastic.crash` {}:{}", index(c.worker), show(c.at)),
          [this, w = index(c.worker)] { world_.crash(member(w)); });
    for (const auto& l : membership_plan.leaves)
      add(l.at, fmt::format("`elastic.leave` {}:{}", index(l.worker), show(l.at)),
          [this, w = index(l.worker)] { world_.leave(member(w)); });
    for (const auto& p : given_.chaos.partitions) add(p.at, "", [this, p] { cut(p); });
    for (const auto& p : given_.chaos.pauses)
      add(p.at, "", [this, p] {
        if (const auto m = find(index(p.worker))) world_.freeze(*m, p.length);
      });
    if (options_.max_time)
      add(options_.max_time->count(), "", [this] { stop_all(StopReason::max_time); });
    std::stable_sort(
        plan_.begin(), plan_.end(),
        [](const MembershipEvent& a, const MembershipEvent& b) { return a.at < b.at; });
  }

  static std::string show(Nanoseconds time) {
    return show_duration(std::chrono::nanoseconds(time));
  }

  std::optional<std::size_t> find(std::size_t worker) const {
    for (std::size_t i = 0; i < world_.size(); ++i)
      if (worker_of(i) == worker) return i;
    return std::nullopt;
  }
  std::size_t member(std::size_t worker) const { return *find(worker); }
  std::size_t worker_of(std::size_t member) const { return record_.worker_of(member); }

  void cut(const Chaos::Partition& p) {
    const auto is_in = [](const std::vector<WorkerId>& side, std::size_t worker) {
      return std::find(side.begin(), side.end(), worker_id(worker)) != side.end();
    };
    world_.cut(
        [this, p, is_in](std::size_t a, std::size_t b) {
          const std::size_t x = worker_of(a), y = worker_of(b);
          return (is_in(p.one, x) && is_in(p.other, y)) || (is_in(p.one, y) && is_in(p.other, x));
        },
        p.length);
  }

  void stop_all(StopReason why) {
    for (std::size_t i = 0; i < world_.size(); ++i)
      if (!world_.is_over(i)) world_.stop_run(i, why);
  }

  // A run that stands still for ever is a mistake of ours.
  void advance_to(Nanoseconds time) {
    while (world_.now() < time && !world_.all_over()) {
      world_.run_until(std::min(time, world_.now() + slice));
      if (world_.size() > 0 && world_.now() - last_application_ > longest_silence)
        throw std::logic_error("deadlock: all members of the simulated run are waiting");
    }
    if (world_.all_over() && world_.size() == 0) world_.run_until(time);
  }

  void looks(std::size_t m) override {
    if (options_.stop.stop_requested()) stop_all(StopReason::interrupted);
    const Nanoseconds every = options_.evaluation.every.count();
    if (every == 0 || world_.now() < next_evaluation_ || leader() != m) return;
    const Nanoseconds now = world_.now();
    next_evaluation_ = later(now - now % every, every, "eval-every");
    if (now == 0) return;
    judge_.evaluate(world_[m].worker().replica().x(), static_cast<double>(now) * 1e-9);
    if (const auto reason = judge_.verdict()) stop_all(*reason);
  }

  // The first of those who have a model and go on.
  std::optional<std::size_t> leader() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < world_.size(); ++i)
      if (world_.is_alive(i) && !world_.is_over(i) && world_.protocol(i).has_joined() &&
          (!first || worker_of(i) < worker_of(*first)))
        first = i;
    return first;
  }

  void applied(std::size_t m, std::vector<TraceLine> lines) override {
    last_application_ = world_.now();
    record_.applied(m, std::move(lines));
    flush(false);
  }

  void adopts(std::size_t m, const Adoption& adoption, std::uint64_t t_before) override {
    record_.adopts(m, adoption, t_before);
  }

  void flush(bool at_the_end) {
    if (const auto failure = record_.flush(at_the_end); failure && !failure_) {
      failure_ = failure;
      stop_all(StopReason::failed);
    }
  }

  void failed(std::size_t, std::exception_ptr why) override {
    if (!failure_) failure_ = why;
  }

  bool has_ended(const SimMember<Real>& m) const {
    return m.alive && m.over && m.protocol.has_joined() && !m.protocol.audit().has_left;
  }

  void summarize_members() {
    result_.members.resize(come_.size());
    for (std::size_t w = 0; w < come_.size(); ++w)
      result_.members[w] = {
          fmt::format("w{}", w), Origin{}.text(), "never came", come_[w], come_[w], 0, 0};
    for (std::size_t i = 0; i < world_.size(); ++i) {
      const SimMember<Real>& m = world_[i];
      MemberOutcome& outcome = result_.members[worker_of(i)];
      const auto audit = m.protocol.audit();
      outcome.origin = m.protocol.options().origin.text();
      outcome.end = !m.alive                   ? "killed"
                    : !m.protocol.has_joined() ? "never joined"
                    : audit.has_left           ? "left"
                                               : "ended";
      outcome.went = m.ended_at;
      outcome.joined_at_step = audit.joined_at;
      outcome.gradients = m.computed;
    }
  }

  MembersResult<Real> conclude() {
    summarize_members();
    result_.adoptions = record_.adoptions();
    result_.history = world_.history();
    std::optional<std::size_t> first;
    Nanoseconds end = 0;
    for (std::size_t i = 0; i < world_.size(); ++i) {
      end = std::max(end, world_[i].ended_at);
      if (has_ended(world_[i]) && (!first || worker_of(i) < worker_of(*first))) first = i;
    }
    if (!first && failure_) std::rethrow_exception(failure_);
    if (!first) throw std::runtime_error("no member with a model reached the end of the run");
    std::vector<WorkerReport> reports(come_.size());
    bool identical = true;
    std::vector<ReplicaDigest> digests;
    for (std::size_t i = 0; i < world_.size(); ++i) {
      reports[worker_of(i)] = world_[i].account();
      const auto names = [&](std::size_t m) { return world_.protocol(m).audit().names; };
      if (!has_ended(world_[i])) continue;
      identical = identical && names(i) == names(*first);
      if (names(i) == names(*first))
        digests.push_back({fmt::format("w{}", worker_of(i)), reports[worker_of(i)].digest});
    }
    const auto ending = world_.protocol(*first).ending();
    const auto took = std::chrono::steady_clock::now() - began_;
    result_.result =
        dasgd::conclude<Real>(objective_, options_, reports, world_.worker(*first),
                              {.seconds = static_cast<double>(end) * 1e-9,
                               .simulated_in = std::chrono::duration<double>(took).count(),
                               .reason = ending == StopReason::samples ? std::nullopt : ending,
                               .failure = failure_,
                               .good = world_[*first].good,
                               .judge = judge_,
                               .elastic = figures_of(world_.protocol(*first)),
                               .agreed = identical,
                               .digests = std::move(digests)});
    return std::move(result_);
  }

  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const VirtualWorld& given_;
  const VirtualWorld times_;
  const std::vector<Nanoseconds> come_;  // by worker
  Links links_;
  Judge<Real> judge_;
  World<Real> world_;
  Recorder<Real> record_;
  std::vector<MembershipEvent> plan_;
  Nanoseconds next_evaluation_ = 0, last_application_ = 0;
  std::exception_ptr failure_;
  MembersResult<Real> result_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

void validate(const Scenario& scenario, const TrainOptions& options, const VirtualWorld& world) {
  const auto refuse = [](const std::string& what) {
    throw InputError("an elastic run in virtual time " + what);
  };
  const bool in_tree = options.relay && options.relay->kind == RelayChoice::Kind::tree;
  if (!in_tree && !graph_of(options).is_full())
    refuse("links all members: `topology.kind` is full");
  if (options.sampling.deals()) refuse("draws from all samples: `sampling` is own or independent");
  if (world.arrivals) refuse("has all samples from the beginning: remove `pace.arrivals`");
  if (options.target_error || options.measure_gradients)
    refuse(
        "does not measure the full gradient: remove `budget.target_error` and "
        "`guard.measure_gradients`");
  if (world.chaos.reorder > 0 || world.chaos.duplicate > 0)
    refuse("has links that keep their order: remove `chaos.reorder` and `chaos.duplicate`");
  if (options.resume) refuse("cannot be resumed in virtual time");
  dasgd::validate(without_cuts(world), graph_of(options));
  const std::size_t joins = scenario.membership_plan.joins.size();
  dasgd::validate(world.chaos, full_graph(options, options.workers + joins));
  validate(scenario.membership_plan, options.workers, world.start);
}

template <typename Real>
MembersResult<Real> simulate_members(const Objective<Real>& objective, const TrainOptions& options,
                                     const VirtualWorld& world, const Scenario& scenario) {
  require_runnable(options, objective);
  validate(scenario, options, world);
  return MembersRun<Real>(objective, options, world, scenario).run();
}

template MembersResult<float> simulate_members(const Objective<float>&, const TrainOptions&,
                                               const VirtualWorld&, const Scenario&);
template MembersResult<double> simulate_members(const Objective<double>&, const TrainOptions&,
                                                const VirtualWorld&, const Scenario&);

}  // namespace dasgd::elastic
