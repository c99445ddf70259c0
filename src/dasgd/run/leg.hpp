// A leg of a run: what one process does between the start or a checkpoint and its end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/rules/rule.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// What every engine asks before it begins: throws InputError for options that cannot be, an
/// objective that contradicts itself, a checkpoint of another model.
template <typename Real>
void require_runnable(const TrainOptions& options, const Objective<Real>& objective);

/// Where a worker stands when the leg begins.
struct WorkerStart {
  DataPosition data;
  std::uint64_t computed = 0;  ///< gradients that count for its budget
};

/// All workers of a run over so many samples. With another number of workers than before, budgets
/// of gradients are dealt evenly. A worker of a run that samples from all data goes on in its own
/// sequence wherever it left it, if ever; shards are dealt again.
std::vector<WorkerStart> worker_starts(const TrainOptions& options, std::size_t samples);

/// Takes the replica to where the leg begins: it stays at x^0 in the first leg.
template <typename Real>
void restore(const TrainOptions& options, Replica<Real>& replica);

/// The update rule of a worker: its own one, or a named one whose clock goes on from the leg
/// before; the data set has so many samples. Throws InputError for an own one of another kind of
/// numbers.
template <typename Real>
std::unique_ptr<UpdateRule<Real>> make_rule(const TrainOptions& options, WorkerId worker,
                                            std::size_t samples);

/// Takes a worker, with its rule, to where the leg begins. With another number of
/// workers than before, worker i takes the rule's state over from i modulo theirs, and objectives
/// get those of all; the state of another kind of rule is left alone.
template <typename Real>
void restore(const TrainOptions& options, UpdateRule<Real>& rule, Worker<Real>& worker);

/// What a process knows of its leg at some moment.
struct LegSnapshot {
  Bytes sums;                          ///< of a replica
  GradientSet applied;                 ///< the gradients of this leg in it
  std::uint64_t samples = 0;           ///< in those gradients
  std::vector<CarryOver> carry_overs;  ///< per worker
  double seconds = 0;                  ///< of this leg
  std::uint32_t evaluations_since_best = 0;
};

/// The checkpoint of that moment: what earlier legs did is added.
Checkpoint checkpoint_of(const TrainOptions& options, std::size_t dimension, std::size_t samples,
                         LegSnapshot snapshot);

}  // namespace dasgd
