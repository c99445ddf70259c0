// Executions of Algorithm 1 with arbitrary delivery order, and staleness by the letter of the
// paper.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/staleness/trace_check.hpp"

namespace dasgd::test {

using Names = std::set<GradientName>;

/// One application with everything needed to evaluate the definitions literally.
struct Event {
  std::size_t worker;
  std::uint64_t step;
  GradientPtr gradient;
  Names before;  // G_i^t
};

struct Execution {
  std::size_t workers = 0;
  std::vector<Event> events;                   // in global order
  std::map<GradientName, Names> compute_sets;  // D(g)
  std::vector<TraceLine> trace() const {
    std::vector<TraceLine> lines;
    for (const Event& e : events)
      lines.push_back({worker_id(e.worker),
                       e.step,
                       e.gradient->name,
                       e.gradient->origin_step,
                       {},
                       {},
                       {},
                       {},
                       lines.size() + 1});
    return lines;
  }
};

/// Which of the gradients that wait for a worker comes next.
enum class Delivery {
  oldest,       // causal
  any_link,     // the oldest of a random origin: links are FIFO, and something may be missing
  any_gradient  // whatever
};

/// Draws an execution: at every turn a random worker applies a gradient that was sent to it or
/// computes one. Everything is delivered in the end.
inline Execution draw_execution(std::uint64_t seed, Delivery delivery) {
  Random random(seed, Purpose::test, 99);
  Execution run;
  run.workers = 1 + random.below(5);
  std::vector<std::vector<GradientPtr>> inbox(run.workers);
  std::vector<GradientSet> applied(run.workers, GradientSet(run.workers));
  std::vector<Names> names(run.workers);
  std::uint32_t to_compute = 2 + random.below(40);
  const auto apply = [&](std::size_t i, GradientPtr g) {
    run.events.push_back({i, applied[i].size(), g, names[i]});
    applied[i].insert(g->name);
    names[i].insert(g->name);
  };
  for (;;) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(run.workers));
    const bool deliver = to_compute == 0 || random.below(3) > 0;
    if (deliver && !inbox[i].empty()) {
      std::size_t k = 0;
      if (delivery != Delivery::oldest)
        k = random.below(static_cast<std::uint32_t>(inbox[i].size()));
      if (delivery == Delivery::any_link) {
        const auto same_origin = [origin = inbox[i][k]->name.origin](const GradientPtr& g) {
          return g->name.origin == origin;
        };
        k = static_cast<std::size_t>(std::ranges::find_if(inbox[i], same_origin) -
                                     inbox[i].begin());
      }
      const GradientPtr g = inbox[i][k];
      inbox[i].erase(inbox[i].begin() + static_cast<std::ptrdiff_t>(k));
      apply(i, g);
    } else if (to_compute > 0) {
      --to_compute;
      auto g = std::make_shared<Gradient>();
      g->name = {worker_id(i), applied[i].prefix(worker_id(i))};
      g->origin_step = applied[i].size();
      g->compute_set = applied[i];
      run.compute_sets[g->name] = names[i];
      apply(i, g);
      for (std::size_t other = 0; other < run.workers; ++other)
        if (other != i) inbox[other].push_back(g);
    }
    const bool drained =
        std::all_of(inbox.begin(), inbox.end(), [](const auto& b) { return b.empty(); });
    if (to_compute == 0 && drained) return run;
  }
}

/// S: the symmetric difference of G_i^t and D(g).
inline Names staleness_set(const Names& before, const Names& compute_set) {
  Names result;
  std::set_symmetric_difference(before.begin(), before.end(), compute_set.begin(),
                                compute_set.end(), std::inserter(result, result.end()));
  return result;
}

/// S_hat: S and, recursively for every gradient of D(g) that is not in G_i^t, its S_hat.
inline Names loose_set(const Execution& run, const Names& before, GradientName g, Names& visited) {
  const Names& compute_set = run.compute_sets.at(g);
  Names result = staleness_set(before, compute_set);
  for (const GradientName& h : compute_set) {
    if (before.contains(h) || !visited.insert(h).second) continue;
    const Names inner = loose_set(run, before, h, visited);
    result.insert(inner.begin(), inner.end());
  }
  return result;
}

}  // namespace dasgd::test
