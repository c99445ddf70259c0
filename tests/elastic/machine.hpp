// One member of a small world: its protocol, its worker, its ends of wires.
#pragma once

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "dasgd/elastic/between_steps.hpp"
#include "elastic/peer.hpp"
#include "elastic/small_world.hpp"
#include "elastic/state_of.hpp"

namespace dasgd::elastic::test {

inline ProtocolOptions options_of(std::size_t number, bool founder) {
  ProtocolOptions options;
  options.origin = {number + 1, 7};
  options.name = fmt::format("w{}", number);
  options.address = fmt::format("m{}", number);
  options.facts = "same";
  options.founder = founder;
  options.dimension = dimension;
  options.limits.in_flight = 4;
  options.report_every = options.repair_after = a_second;
  options.yield_after = 3 * a_second;
  options.give_up_after = 20 * a_second;
  options.patience = {.suspect = 2 * a_second,
                      .gone = 4 * a_second,
                      .alone = 8 * a_second,
                      .first_dial = a_second,
                      .slowest_dial = a_second};
  for (std::size_t i = 0; i < number; ++i) options.contacts.push_back(fmt::format("m{}", i));
  return options;
}

struct SmallWorld::Machine final : Wires, Channel, SampleSource {
  struct Numbers final : Oracle<float> {
    explicit Numbers(Machine& m) : machine(m) {}
    double gradient(ComputePoint<float>&, const Batch&, std::span<float> g) override {
      g[0] = static_cast<float>(1 + machine.number);
      g[1] = static_cast<float>(1 + machine.worker.computed());
      return 0;
    }
    Machine& machine;
  };

  Machine(SmallWorld& w, std::size_t n, bool founder)
      : world(w),
        number(n),
        protocol(options_of(n, founder), *this),
        left(w.options_.gradients),
        ticks_left(w.options_.ticks),
        pauses_left(w.options_.pauses) {}

  // Wires
  LinkId dial(const std::string& address) override {
    std::size_t target = 0;
    std::from_chars(address.data() + 1, address.data() + address.size(), target);
    dials[++links] = target;
    return LinkId{links};
  }
  void send(LinkId link, Bytes header, std::span<const std::byte> body,
            std::shared_ptr<const void>) override {
    push(link, {std::move(header), Bytes(body.begin(), body.end())});
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId link) override {
    push(link, {{}, {}, true});
    wires.erase(link);
  }
  void push(LinkId link, Frame frame) {
    const auto at = wires.find(link);
    if (at == wires.end()) return;
    const auto [id, end] = at->second;
    Wire& wire = world.wires_.at(id);
    if (frame.last) wire.open[static_cast<std::size_t>(end)] = false;
    wire.on_the_way[static_cast<std::size_t>(1 - end)].push_back(std::move(frame));
  }

  // Channel
  void receive(std::size_t limit, Received& received) override {
    protocol.inbox().take(limit, received);
  }
  std::shared_ptr<Gradient> blank() override { return std::make_shared<Gradient>(); }
  void send(GradientPtr gradient) override {
    const auto key = std::pair(protocol.options().origin, gradient->name.sequence);
    if (!world.made_.emplace(key, gradient).second) world.wrong_ = "a name was used twice";
    protocol.own(std::move(gradient), clock);
  }
  void applied(const Received&) override {}
  Nanoseconds now() const override { return clock; }

  // SampleSource
  Draw next() override {
    if (protocol.ending() || left == 0) return Draw::no_more();
    if (!protocol.may_compute()) return Draw::none_now();
    --left;
    return Draw::batch(row);
  }

  bool is_in() const { return alive && !over; }
  bool has_something_to_do() const {
    if (protocol.inbox().depth() > 0 || StateOf::has_task(protocol)) return true;
    if (protocol.is_over()) return !has_sent_digest || protocol.has_compared(clock);
    return !has_stopped && protocol.has_joined() &&
           (protocol.ending() || left == 0 || protocol.may_compute());
  }
  bool is_to_compute() const {
    return protocol.inbox().depth() == 0 && left > 0 && protocol.may_compute();
  }
  // As the world of virtual time does, without the time that steps take.
  void look() {
    const bool copied = between_steps<float>(
        protocol, worker, clock,
        [this](const Adoption& adoption, std::span<const Sum<float>> sums) {
          ever.unite(adoption.names);
          worker.adopt(adoption.names, sums, adoption.samples);
        },
        [this](const StepReport&) { worker.send_pending(); });
    if (copied) protocol.pump(clock);
    if (protocol.is_over() && protocol.inbox().depth() == 0) return end();
    const StepReport report = worker.step();
    worker.send_pending();
    ever.unite(worker.applied());
    if (report.kind == StepReport::Kind::computed) protocol.pump(clock);
    const bool no_more = report.kind == StepReport::Kind::out_of_samples && protocol.has_joined();
    if (!no_more || std::exchange(has_stopped, true)) return;
    protocol.stopped(clock);
    protocol.tick(clock);
  }
  void end() {
    if (!std::exchange(has_sent_digest, true)) {
      protocol.compare(digest_of(worker), clock);
      protocol.tick(clock);
    }
    if (!protocol.has_compared(clock)) return;
    protocol.close(clock);
    over = true;
  }
  void tick() {
    clock += a_second;
    protocol.tick(clock);
  }
  std::vector<std::pair<std::string, Hash>> digests() const { return protocol.audit().digests; }

  SmallWorld& world;
  const std::size_t number;
  bool alive = true, over = false, has_stopped = false, has_sent_digest = false;
  Nanoseconds clock = a_second;
  Protocol protocol;
  std::uint32_t left, ticks_left, pauses_left;
  std::uint64_t links = 0;
  std::map<std::uint64_t, std::size_t> dials;      // under way, by our number: to whom
  std::map<LinkId, std::pair<WireId, int>> wires;  // by our number: which, and which end
  std::array<std::uint32_t, 1> row{0};
  FixedStep<float> rule{1};
  Worker<float> worker{Membership::self,
                       std::array<float, dimension>{},
                       std::make_unique<Numbers>(*this),
                       rule,
                       *this,
                       *this};
  GradientSet ever;  // all that was in its model at some time
};

}  // namespace dasgd::elastic::test
