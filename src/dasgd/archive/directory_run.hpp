// A run that leaves everything it does in a directory (docs/run_directory.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/archive/best_model.hpp"
#include "dasgd/archive/earlier_legs.hpp"
#include "dasgd/archive/run_directory.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/reserved_room.hpp"
#include "dasgd/base/files/unwritten_files.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"

namespace dasgd {

/// Where a run leaves its files, and which.
struct DirectoryOptions {
  std::string path = {};     ///< made if it is not there; empty: runs/NAME-TIME
  std::string name = "run";  ///< in the name of a new directory
  bool resume = false;       ///< go on with the run that is at `path`
  bool trace = false;        ///< trace.jsonl: every application
  bool report = true;        ///< report.html and charts/ at the end
  RunFacts facts = {};       ///< what checkpoints say of the run beside what its options say
};

/// A run in its directory: metrics and the best model while it goes, checkpoints where the options
/// have a time for them; model, summary, trace and report at its end. Room for model and summary is
/// set aside before the run begins. Metrics, trace and the best model so far are left out where
/// there is none, and the run goes on: `options.warn` is called, or else the result has failed.
template <typename Real>
class DirectoryRun {
 public:
  /// Opens the directory and, for a resume, finds the checkpoint to continue from. Writes nothing
  /// before it knows that the run can begin. Throws InputError.
  DirectoryRun(const Objective<Real>& objective, const TrainOptions& options,
               DirectoryOptions where);

  const RunDirectory& directory() const { return directory_; }
  /// Where a resumed run goes on.
  const std::optional<Checkpoint>& start() const { return start_; }

  using Engine =
      std::function<TrainResult<Real>(const TrainOptions&, const std::vector<Callback<Real>>&)>;
  /// Trains with these options and writes everything. What failed, while running or while it was
  /// written, is in the result.
  TrainResult<Real> run(const Engine& train, TrainOptions options,
                        std::vector<Callback<Real>> callbacks = {});
  /// Figures of a caller's loop (`own`, `accuracy`, `eval_loss`) for the last line of
  /// metrics.jsonl. After `run`, that line and the report are written again.
  void add_last(const RunFigures& figures);

 private:
  Flow keep(const Progress<Real>& progress);
  void save(TrainResult<Real>& result);

  const Objective<Real>& objective_;
  const DirectoryOptions where_;
  const std::optional<Checkpoint> start_;
  RunDirectory directory_;
  BestModel best_;
  const std::string carried_;  // the metrics of earlier legs
  UnwrittenFiles lost_;
  ReservedRoom room_;
  AtomicFile metrics_;
  std::string unwritten_;  // lines of it that wait for room
  RunFigures last_;        // what `add_last` was given
  std::optional<RunSummary> written_;
  std::optional<TraceWriter> trace_;
};

/// Trains on threads and leaves everything in a directory, as `dasgd train` does.
template <typename Real>
TrainResult<Real> train_into(const DirectoryOptions& where, const Objective<Real>& objective,
                             const TrainOptions& options,
                             const std::vector<Callback<Real>>& callbacks = {});

/// A simulated run, and further files that it leaves, by their names.
template <typename Real>
struct Simulated {
  TrainResult<Real> result;
  std::vector<std::pair<std::string, std::string>> files = {};
};

/// Simulates and leaves metrics, model, summary and, if it is wanted, the trace in a directory,
/// with what else the simulation has to leave.
template <typename Real>
TrainResult<Real> simulate_into(
    const RunDirectory& directory, bool with_trace, const Objective<Real>& objective,
    TrainOptions options, const std::function<Simulated<Real>(const TrainOptions&)>& simulate);

}  // namespace dasgd
