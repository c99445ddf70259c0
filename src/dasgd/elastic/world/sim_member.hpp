// One member of the world: its protocol, its worker, its ends of wires.
#pragma once

#include <atomic>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "dasgd/elastic/options_of_run.hpp"
#include "dasgd/elastic/world/world.hpp"
#include "dasgd/run/run_worker.hpp"

namespace dasgd::elastic {

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

// With which frame a member dies.
struct Doom {
  std::uint32_t frames_left = 0;  // 0: no limit
  std::optional<FatalFrame> fatal;
  std::string last_step = "between frames";  // what it was at when it died

  bool counts_down_to(std::size_t kind) {
    return (frames_left > 0 && --frames_left == 0) || (fatal && fatal->kind == kind);
  }
};

template <typename Real>
struct SimMember final : Wires, Channel {
  SimMember(World<Real>& w, std::size_t n, ProtocolOptions given, std::size_t sequence,
            const Objective<Real>& objective)
      : world(w),
        number(n),
        protocol(std::move(given), *this),
        options(options_of(w.options_.run, sequence)),
        budget(without_end(options), objective.samples()),
        run(Membership::self, objective, objective.make_oracle(worker_id(n)), options, *this,
            SharedByWorkers<Real>{budget, good, stopped}, w.options_.fuse) {}

  // Wires
  LinkId dial(const std::string& address) override {
    const LinkId link{world.next_link_++};
    std::size_t target = world.members_.size();  // nobody: whoever lies gives any address
    (void)std::from_chars(address.data() + 1, address.data() + address.size(), target);
    const bool exists = target < world.members_.size();
    world.at(exists ? world.arrival(number, target, 0) : world.now_,
             [this, link, target] { connect(link, target); });
    return link;
  }
  void connect(LinkId link, std::size_t target);
  void send(LinkId link, Bytes header, std::span<const std::byte> body,
            std::shared_ptr<const void> keeper) override;
  std::size_t queued_bytes(LinkId link) const override;
  void close(LinkId link) override;

  // Channel
  void receive(std::size_t limit, Received& received) override {
    protocol.inbox().take(limit, received);
  }
  std::shared_ptr<Gradient> blank() override { return std::make_shared<Gradient>(); }
  void send(GradientPtr gradient) override { made.push_back(std::move(gradient)); }
  void applied(const Received&) override {}
  Nanoseconds now() const override { return world.now_; }

  /// What the worker has made goes out.
  void give();
  /// As the audit of a run wants it; what it had not completed when it died does not count.
  WorkerReport account() const;
  Worker<Real>& worker() { return run.worker(); }
  const Worker<Real>& worker() const { return run.worker(); }

  // True when the member lives and is not standing still; else, when to try again.
  bool is_awake() const { return alive && world.now_ >= frozen_until; }
  bool is_doomed() const { return doom.frames_left > 0 || doom.fatal; }

  World<Real>& world;
  const std::size_t number;
  bool alive = true, host_lives = true, over = false;
  Nanoseconds frozen_until = 0, ended_at = 0;
  Doom doom;
  std::map<LinkId, std::pair<std::uint64_t, int>> wires;  // by our number: which, and which end
  Protocol protocol;
  const TrainOptions options;
  SharedBudget budget;
  GoodModel<Real> good{[this](double size) { protocol.note_early_loss(size); }};
  std::atomic<bool> stopped = false;
  RunWorker<Real> run;
  std::deque<GradientPtr> made;  // complete when the step that is under way is
  StepReport report;             // of that step
  bool corrects = false;         // that step corrects what was adopted
  Nanoseconds began = 0;
  std::uint32_t computed = 0;
  GradientSet ever;          // all that was in its model at some time, where that is kept
  bool step_is_due = false;  // or under way
  bool has_stopped = false, has_sent_digest = false;
  std::size_t longest_log = 0;

 private:
  TrainOptions options_of(TrainOptions all, std::size_t sequence) const {
    all.elastic = ElasticMember{static_cast<std::uint32_t>(sequence),
                                [this] { return protocol.may_compute(); }};
    if (all.gradients.size() > 1) all.gradients = {all.gradients[sequence % all.gradients.size()]};
    return all;
  }
};

extern template struct SimMember<float>;
extern template struct SimMember<double>;

}  // namespace dasgd::elastic
