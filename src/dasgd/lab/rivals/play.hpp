// A rival in virtual time: the same gradients, batches, clocks and links as in a simulation of
// DASGD.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/record/stop_reason.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/observer.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// A gradient as it was computed: who, from when to when, and whether in vain.
struct ComputedSpan {
  std::size_t worker = 0;
  Nanoseconds begin = 0, end = 0;
  bool wasted = false;
};

/// How a rival is played, beyond the options of a simulation.
struct PlayOptions {
  bool preempt = false;                        ///< a cancelled gradient stops at once
  std::size_t measured_S = 0;                  ///< the staleness of this many gradients is measured
  std::vector<ComputedSpan>* spans = nullptr;  ///< where gradients are noted when they are complete
  /// A sum over all workers is one event instead of 2 (n - 1) n messages. It is ready when a ring
  /// all-reduce would be that begins when the last worker has joined, which is exact where all join
  /// at once. Where latencies are drawn or links are disturbed, messages are sent nevertheless.
  bool meet = false;
  bool shows_common = false;  ///< the observer sees `common` of participants instead of `model`
};

struct PlayResult {
  StopReason reason = StopReason::budget;
  double seconds = 0;
  std::uint64_t gradients = 0;  ///< complete
  std::uint64_t wasted = 0;     ///< those in vain: cancelled, or thrown away on arrival
  std::uint64_t samples = 0;
  std::uint64_t messages = 0;
  std::uint64_t overwritten = 0;       ///< numbers, see Port::overwrite
  std::optional<double> S_avg, S_max;  ///< where it was measured
};

/// Plays participants until a budget, `max_time` or the observer ends it; participants that still
/// wait then are left alone. Of `options` it takes the workers, batches, slow workers, budgets and
/// the seed. The k-th gradient of a worker uses its k-th batch and takes its k-th time, whatever
/// the rival. Each participant can send to any other; a server has a node of its own. At one
/// instant gradients are ready first, lower workers first, then messages arrive in order of
/// sending. A participant is called again only when what it has charged is over; its gradient is
/// computed meanwhile. Throws InputError for what cannot be, and std::runtime_error where all
/// participants wait for each other.
template <typename Real>
PlayResult play(const Objective<Real>& objective, Participants<Real>& participants,
                const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how = {},
                const Observer<Real>* observer = nullptr);

/// Makes the participants as well.
template <typename Real>
PlayResult play(const Objective<Real>& objective, const ChosenRival& rival,
                const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how = {},
                const Observer<Real>* observer = nullptr);

/// The same on real threads, one for each participant: gradients are computed, and then last as
/// long as the world's clocks say; letters and passes over vectors take the time that they take.
/// Times are those of this machine, and staleness is not measured. Throws InputError for a world
/// whose links are not those of memory.
template <typename Real>
PlayResult perform(const Objective<Real>& objective, Participants<Real>& participants,
                   const TrainOptions& options, const VirtualWorld& world,
                   const PlayOptions& how = {}, const Observer<Real>* observer = nullptr);
template <typename Real>
PlayResult perform(const Objective<Real>& objective, const ChosenRival& rival,
                   const TrainOptions& options, const VirtualWorld& world,
                   const PlayOptions& how = {}, const Observer<Real>* observer = nullptr);

/// Throws InputError where links are slowed down or disturbed: only clocks can be set for real.
void require_real_links(const VirtualWorld& world);

/// Where a rival starts: x0, with room for what the measurement of staleness needs.
template <typename Real>
RivalSetup<Real> setup_of(const Objective<Real>& objective, const Graph& graph, double eta,
                          const RivalNumbers& numbers, const PlayOptions& how = {});

}  // namespace dasgd
