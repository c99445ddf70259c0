// The MPI job that this Python process is a rank of, if it is one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/cluster/value_board.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"

namespace dasgd::python {

/// What a run on ranks needs beyond its options; the same on every rank.
struct RunOnRanks {
  std::chrono::milliseconds silence{8'000};
  bool trace = false, watch = false;  ///< rank 0 has them
  ValueBoard* values = nullptr;       ///< opened and closed with the run
};

/// Alone where no launcher was at work, or where dasgd was built without MPI. One thread at a time.
class Ranks {
 public:
  /// Throws InputError in a fork of a rank: MPI does not reach it.
  static Ranks& of_process();
  /// Ends MPI, with all ranks; at the end of the process, and not in a fork of it. Until all leave,
  /// those that wait for this one learn that it is gone. Where it has failed, others may wait for
  /// what it will never do: after this `patience` without them it ends, and with it the job.
  static void leave(std::optional<std::chrono::seconds> patience);

  std::size_t rank() const;
  std::size_t size() const;
  /// What every rank gave for this purpose, on every rank; nothing of those that have left. Throws
  /// InputError where one is up to something else.
  std::vector<std::optional<std::string>> gather(char purpose, const std::string& bytes);
  /// What rank 0 gave, on every rank.
  std::string broadcast(std::string bytes);
  /// Runs this rank's part; the result is on rank 0.
  std::optional<TrainResult<float>> train(const Objective<float>& objective,
                                          const TrainOptions& options, const RunOnRanks& how,
                                          const std::vector<Callback<float>>& callbacks);

 private:
  Ranks();
  struct Job;
  struct Delete {
    void operator()(Job* job) const;
  };
  std::unique_ptr<Job, Delete> job_;
};

}  // namespace dasgd::python
