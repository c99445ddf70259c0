// A second simulator, written from the contract alone and as plainly as possible: a list of pending
// events, searched from end to end for the next one. No worker code, no numbers: only who applies
// what when.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd::test {

struct ReferenceEvent {
  std::size_t worker;
  std::uint64_t step;
  GradientName name;
  std::uint64_t origin_step;
  Nanoseconds time;
  friend auto operator<=>(const ReferenceEvent&, const ReferenceEvent&) = default;
};

struct ReferenceSetup {
  std::vector<Nanoseconds> compute;  // per worker
  std::vector<Nanoseconds> start;
  std::vector<std::uint32_t> gradients;
  Nanoseconds latency = 0, apply = 0;
  RelayMode relay = RelayMode::none;
};

inline std::vector<ReferenceEvent> reference_simulation(const Graph& graph,
                                                        const ReferenceSetup& setup) {
  struct Gradient {
    GradientName name;
    std::uint64_t s;
  };
  struct Pending {
    Nanoseconds time;
    int kind;            // 1 own, 2 foreign, 3 arrival, 4 look
    std::uint64_t rank;  // worker, or order of sending
    std::size_t worker;
    Gradient gradient{};
    std::size_t from = 0;
  };
  const std::size_t n = graph.workers();
  std::vector<Pending> pending;
  std::vector<std::deque<std::pair<Gradient, std::size_t>>> inbox(n);
  std::vector<std::set<GradientName>> seen(n);
  std::vector<std::uint64_t> t(n, 0);
  std::vector<std::uint32_t> made(n, 0);
  std::vector<bool> idle(n, false);
  std::vector<ReferenceEvent> events;
  std::uint64_t sendings = 0;
  const auto send_all = [&](std::size_t from, const Gradient& g, std::size_t except,
                            Nanoseconds now) {
    for (const WorkerId to : graph.neighbours(worker_id(from)))
      if (index(to) != except)
        pending.push_back({now + setup.latency, 3, sendings++, index(to), g, from});
  };
  for (std::size_t i = 0; i < n; ++i) pending.push_back({setup.start[i], 4, i, i});
  while (!pending.empty()) {
    const auto next =
        std::min_element(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
          return std::tuple(a.time, a.kind, a.rank) < std::tuple(b.time, b.kind, b.rank);
        });
    const Pending e = *next;
    pending.erase(next);
    const std::size_t i = e.worker;
    if (e.kind == 1 || e.kind == 2) {
      events.push_back({i, t[i]++, e.gradient.name, e.gradient.s, e.time});
      if (e.kind == 1) {
        seen[i].insert(e.gradient.name);
        send_all(i, e.gradient, i, e.time);
      } else if (setup.relay == RelayMode::apply) {
        send_all(i, e.gradient, e.from, e.time);
      }
      pending.push_back({e.time, 4, i, i});
    } else if (e.kind == 3) {
      if (!seen[i].insert(e.gradient.name).second) continue;
      inbox[i].push_back({e.gradient, e.from});
      if (setup.relay == RelayMode::arrival) send_all(i, e.gradient, e.from, e.time);
      if (idle[i]) pending.push_back({e.time, 4, i, i});
      idle[i] = false;
    } else if (!inbox[i].empty()) {
      const auto [gradient, from] = inbox[i].front();
      inbox[i].pop_front();
      pending.push_back({e.time + setup.apply, 2, i, i, gradient, from});
    } else if (made[i] < setup.gradients[i]) {
      const Gradient own{{worker_id(i), made[i]++}, t[i]};
      pending.push_back({e.time + setup.compute[i] + setup.apply, 1, i, i, own});
    } else {
      idle[i] = true;
    }
  }
  return events;
}

}  // namespace dasgd::test
