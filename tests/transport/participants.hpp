// Workers without models, for tests of transports.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "dasgd/random/random.hpp"
#include "dasgd/transport/endpoint.hpp"

namespace dasgd::test {

/// The endpoints of one network that are in this process: all of them, or one rank's.
class World {
 public:
  virtual ~World() = default;
  virtual bool is_here(std::size_t) const { return true; }
  virtual Endpoint& endpoint(std::size_t worker) = 0;
};

/// A worker without a model: it applies what it receives and sends numbered gradients.
class Participant {
 public:
  Participant(std::size_t self, Endpoint& endpoint) : self_(self), endpoint_(endpoint) {}

  /// Receives and "applies" up to `limit` gradients, or a bundle; how many there were.
  std::size_t receive(std::size_t limit) {
    Received received;
    endpoint_.receive(limit, received);
    for (const GradientPtr& g : received.gradients) {
      pointers[g->name] = g.get();
      apply(*g);
      value += g->update.numbers<float>()[0];
    }
    const std::size_t folded_now = received.bundle ? received.bundle->size() : 0;
    if (received.bundle) {
      for (const GradientFacts& g : received.bundle->facts()) apply(g);
      value += received.bundle->sums<float>()[0];
    }
    folded += folded_now;
    endpoint_.applied(received);
    return received.gradients.size() + folded_now;
  }

  /// Sends one gradient, whose update is a number of its own.
  void send() {
    auto g = endpoint_.blank();
    g->name = {worker_id(self_), applied.prefix(worker_id(self_))};
    g->origin_step = applied.size();
    g->compute_set = applied;
    g->samples = 1;
    g->update.resize<float>(1);
    g->update.shift = 0;
    g->update.numbers<float>()[0] = number_of(g->name);
    value += number_of(g->name);
    pointers[g->name] = g.get();
    applied.insert(g->name);
    endpoint_.send(std::move(g));
  }
  static std::int32_t number_of(GradientName name) {
    return static_cast<std::int32_t>(7919 * (index(name.origin) + 1) + 31 * name.sequence);
  }

  /// The life of a worker's thread: `count` gradients, announcement, drain.
  void live(std::uint32_t count, Random random) {
    for (std::uint32_t made = 0; made < count;) {
      if (receive(1 + random.below(8)) > 0) continue;
      send();
      ++made;
    }
    endpoint_.announce(count);
    while (endpoint_.announced_total() != applied.size())
      if (receive(8) == 0) endpoint_.wait(std::chrono::milliseconds(100));
  }

  GradientSet applied;
  std::vector<GradientName> order;
  std::map<GradientName, const Gradient*> pointers;
  std::size_t duplicates = 0, noncausal = 0, folded = 0;
  std::int64_t value = 0;  // the sum of all updates that it applied

 private:
  void apply(const GradientFacts& g) {
    order.push_back(g.name);
    if (g.compute_set.count_missing_from(applied) > 0) ++noncausal;
    if (!applied.insert(g.name)) ++duplicates;
  }

  const std::size_t self_;
  Endpoint& endpoint_;
};

}  // namespace dasgd::test
