// One member of the world: its protocol, its worker, its ends of wires.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "dasgd/core/update_rule.hpp"
#include "dasgd/elastic/world/world.hpp"

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

  bool is_doomed() const { return frames_left > 0 || fatal; }

  World<Real>& world;
  const std::size_t number;
  bool alive = true, host_lives = true, over = false;
  Nanoseconds frozen_until = 0, idle_since = -1, longest_idle = 0, ended_at = 0;
  std::uint32_t frames_left = 0;  // 0: no limit
  std::optional<FatalFrame> fatal;
  std::string last_step = "between frames";               // what it was at when it died
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

extern template struct Inhabitant<float>;
extern template struct Inhabitant<double>;

}  // namespace dasgd::elastic
