// Members in virtual time: the protocol that TCP drives, driven by a clock that nobody waits for
// and a network that breaks on schedule.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/elastic/protocol.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd::elastic {

struct WorldOptions {
  ProtocolOptions protocol;  ///< of every member, except its identity
  TrainOptions run;          ///< of every member
  std::uint64_t seed = 1;
  std::size_t fuse = max_fused;  ///< how many waiting gradients are applied at once
  bool keeps_all = true;         ///< every gradient is kept, for `verify`

  // How long things take: half as long to one and a half times as long as these ...
  Nanoseconds compute = 20'000'000;  ///< a gradient
  Nanoseconds latency = 1'000'000;   ///< a frame: up to twice as long
  Nanoseconds apply = 10'000;
  // ... or what these functions say.
  std::function<Nanoseconds(std::size_t member, std::uint64_t gradient)> compute_time;
  std::size_t kernel_bytes = 0;  ///< of what waits for a link, out of the protocol's sight
  /// When a frame that is sent now arrives.
  std::function<Nanoseconds(std::size_t from, std::size_t to, std::size_t bytes, Nanoseconds now)>
      arrival;
  /// What happens to frames on their way: on real links nothing, for a member may lie but TLS sees
  /// to the rest.
  std::function<void(Bytes& frame)> mangle;
};

/// How often members died at a moment ("after a report") in a role ("sponsor").
using Deaths = std::map<std::pair<std::string, std::string>, std::uint64_t>;

/// Death at the next frame of a kind (an index of Message), before it is out or just after.
struct FatalFrame {
  std::size_t kind = 0;
  bool is_sent = false;
};

/// A member of the world, as it is now and as it was when it ended.
template <typename Real>
struct SimMember;

/// Whoever follows what members do, at the instant at which they do it.
class Follower {
 public:
  virtual ~Follower() = default;
  /// Its worker is between two steps.
  virtual void looks(std::size_t /*member*/) {}
  /// It has applied these, in the numbers that it uses itself.
  virtual void applied(std::size_t /*member*/, std::vector<TraceLine> /*lines*/) {}
  virtual void adopts(std::size_t /*member*/, const Adoption& /*adoption*/,
                      std::uint64_t /*t_before*/) {}
  /// A step has thrown: the member has asked all to end.
  virtual void failed(std::size_t /*member*/, std::exception_ptr /*why*/) {}
};

/// Everything that happens is a function of the options and of the calls that were made.
template <typename Real>
class World {
 public:
  World(const Objective<Real>& objective, WorldOptions options, Follower* follower = nullptr);
  ~World();

  /// The first begins the run; whoever comes later joins it through all who are there. Returns its
  /// number.
  std::size_t add();
  /// The same for one who takes the samples, and the name, of this worker.
  std::size_t add(std::size_t worker);
  void crash(std::size_t member);      ///< kill -9: its host lives and refuses connections
  void power_off(std::size_t member);  ///< its host is gone: silence
  void leave(std::size_t member);
  void freeze(std::size_t member, Nanoseconds duration);  ///< SIGSTOP
  /// Frames between those whom `separates` keeps apart stand still for so long; nobody hears of it.
  using Separates = std::function<bool(std::size_t a, std::size_t b)>;
  void cut(Separates separates, Nanoseconds duration);
  /// Between two groups; members that join later are in the first.
  void cut(const std::vector<bool>& side, Nanoseconds duration);
  /// Dies when it has sent so many more frames, the last one not included.
  void crash_after(std::size_t member, std::uint32_t frames);
  void crash_at(std::size_t member, FatalFrame frame);
  void stop_run(std::size_t member, StopReason why = StopReason::interrupted);

  void run_for(Nanoseconds duration) { run_until(now_ + duration); }
  void run_until(Nanoseconds time);
  /// Until every member that lives has ended, or the time is over; true if they have.
  bool run_until_over(Nanoseconds limit);
  bool all_over() const;

  Nanoseconds now() const { return now_; }
  std::size_t size() const { return members_.size(); }
  bool is_alive(std::size_t member) const;
  bool is_over(std::size_t member) const;
  const Protocol& protocol(std::size_t member) const;
  const Worker<Real>& worker(std::size_t member) const;
  SimMember<Real>& operator[](std::size_t member) { return *members_[member]; }
  /// Whether it will die by itself.
  bool is_doomed(std::size_t member) const;
  const Deaths& deaths() const { return deaths_; }
  /// The most gradients that a member kept one by one.
  std::size_t longest_log() const;
  /// "12.3 s  w2: w1 is silent", in order.
  const std::vector<std::string>& history() const { return history_; }

  /// The invariants, of every member that ended: what is wrong, in words; empty if nothing is.
  std::string verify() const;

 private:
  struct Wire;
  friend struct SimMember<Real>;

  void at(Nanoseconds time, std::function<void()> action);
  void look_of(std::size_t member);
  void finish_step_later(SimMember<Real>& member, bool computes);
  void finish_step_of(std::size_t member);
  void look_soon(std::size_t member, Nanoseconds time);
  void tick_of(std::size_t member);
  void account(SimMember<Real>& member, const StepReport& report);
  bool do_tasks_of(SimMember<Real>& member);
  void fail(SimMember<Real>& member, StopReason why);
  void kill(std::size_t member, bool host_lives);
  Nanoseconds clear_at(std::size_t a, std::size_t b) const;  // when frames pass between them
  Nanoseconds arrival(std::size_t from, std::size_t to, std::size_t bytes);
  Nanoseconds time_of_step(const SimMember<Real>& member, bool computes);
  void deliver(std::uint64_t wire, std::size_t to);
  void compare_and_end(SimMember<Real>& member);
  void end(std::size_t member);
  void record(std::size_t member, Nanoseconds time, const std::string& what);
  void record_events(std::size_t member);
  std::uint64_t random();

  struct Action {
    Nanoseconds time;
    std::uint64_t order;
    std::function<void()> run;
    bool operator<(const Action& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  const Objective<Real>& objective_;
  const WorldOptions options_;
  Follower nobody_;
  Follower& follower_;
  Nanoseconds now_ = 0;
  std::uint64_t actions_ = 0, random_ = 0;
  std::priority_queue<Action> queue_;
  std::vector<std::unique_ptr<SimMember<Real>>> members_;
  std::map<std::uint64_t, std::unique_ptr<Wire>> wires_;
  std::uint64_t next_link_ = 1;
  struct Cut {
    Separates separates;
    Nanoseconds until;
  };
  std::vector<Cut> cuts_;
  // What every name means, for ever.
  std::map<std::pair<Origin, std::uint32_t>, GradientPtr> made_;
  std::vector<std::string> history_;
  Deaths deaths_;
  std::string wrong_;
};

extern template class World<float>;
extern template class World<double>;

}  // namespace dasgd::elastic
