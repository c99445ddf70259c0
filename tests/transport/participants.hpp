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

  /// Receives and "applies" up to `limit` gradients; how many there were.
  std::size_t receive(std::size_t limit) {
    std::vector<GradientPtr> batch;
    endpoint_.receive(limit, batch);
    for (const GradientPtr& g : batch) {
      order.push_back(g->name);
      pointers[g->name] = g.get();
      if (g->compute_set.count_missing_from(applied) > 0) ++noncausal;
      if (!applied.insert(g->name)) ++duplicates;
    }
    endpoint_.applied(batch);
    return batch.size();
  }

  /// Sends one gradient; false when there is no room.
  bool send() {
    auto g = endpoint_.blank();
    if (!g) return false;
    g->name = {worker_id(self_), applied.prefix(worker_id(self_))};
    g->origin_step = applied.size();
    g->compute_set = applied;
    pointers[g->name] = g.get();
    applied.insert(g->name);
    endpoint_.send(std::move(g));
    return true;
  }

  /// The life of a worker's thread: `count` gradients, announcement, drain.
  void live(std::uint32_t count, Random random) {
    for (std::uint32_t made = 0; made < count;) {
      if (receive(1 + random.below(8)) > 0) continue;
      if (send()) {
        ++made;
      } else {
        endpoint_.wait(std::chrono::milliseconds(100));
      }
    }
    endpoint_.announce(count);
    while (endpoint_.announced_total() != applied.size())
      if (receive(8) == 0) endpoint_.wait(std::chrono::milliseconds(100));
  }

  GradientSet applied;
  std::vector<GradientName> order;
  std::map<GradientName, const Gradient*> pointers;
  std::size_t duplicates = 0, noncausal = 0;

 private:
  const std::size_t self_;
  Endpoint& endpoint_;
};

}  // namespace dasgd::test
