// Trains a model with decentralized asynchronous SGD on the ranks of an MPI job.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/cluster/value_board.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "dasgd/transport/mpi/mesh.hpp"

namespace dasgd {

/// What a run on ranks has beyond `TrainOptions`. The same on every rank, but for the functions.
struct RankOptions {
  mpi::Polling polling = mpi::Polling::automatic;
  /// A rank that is silent for this long is taken for dead, and the job ends.
  std::chrono::milliseconds silence{8'000};
  /// Whether ranks of one machine lend each other their updates.
  bool share_memory = true;
  /// Whether rank 0 has a trace: the others send it their lines.
  bool trace = false;
  /// Whether rank 0 watches: the others send it what their workers apply, as far as a page needs.
  bool watch = false;
  /// Whether rank 0 keeps checkpoints: the others send it what their workers' rules remember.
  bool checkpoints = false;
  /// Where ranks give each other values while the run goes; null: they do not.
  ValueBoard* values = nullptr;
  /// One line for a person when this rank's part cannot go on; then all ranks end at once.
  std::function<void(const std::string&)> fatal;
  /// A line on how updates travel where workers compute on GPUs; from rank 0.
  std::function<void(const std::string&)> note;
  /// Lines about what this rank does, for those who want them.
  std::function<void(const std::string&)> log;
};

/// Collective: every rank calls this with the same objective and options. Runs the threads of this
/// rank's workers, `options.workers / ranks.size()` of them, until budgets, targets or a stop on
/// any rank end it, and drains. Rank 0 audits and has the result, the callbacks, the warnings, the
/// trace and the checkpoints; the others get nothing. All ranks resume from the same checkpoint.
/// Throws InputError for options that cannot be. A rank that dies or cannot go on ends the job.
template <typename Real>
std::optional<TrainResult<Real>> train_ranks(mpi::Communicator& ranks,
                                             const Objective<Real>& objective,
                                             const TrainOptions& options,
                                             const RankOptions& rank_options,
                                             const std::vector<Callback<Real>>& callbacks = {});

extern template std::optional<TrainResult<float>> train_ranks(mpi::Communicator&,
                                                              const Objective<float>&,
                                                              const TrainOptions&,
                                                              const RankOptions&,
                                                              const std::vector<Callback<float>>&);
extern template std::optional<TrainResult<double>> train_ranks(
    mpi::Communicator&, const Objective<double>&, const TrainOptions&, const RankOptions&,
    const std::vector<Callback<double>>&);

}  // namespace dasgd
