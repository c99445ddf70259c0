// The MPI job that this Python process is a rank of, if it is one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"

namespace dasgd::python {

/// Alone where no launcher was at work, or where dasgd was built without MPI. One thread at a time.
class Ranks {
 public:
  static Ranks& of_process();
  /// Ends MPI, with all ranks; at the end of the process. Where that has `failed`, others may wait
  /// for what it will never do: after ten seconds without them it ends, and with it the job.
  static void leave(bool failed);

  std::size_t rank() const;
  std::size_t size() const;
  /// What every rank gave, on every rank.
  std::vector<std::string> gather(const std::string& bytes);
  /// What rank 0 gave, on every rank.
  std::string broadcast(std::string bytes);
  /// Runs this rank's part; the result is on rank 0.
  std::optional<TrainResult<float>> train(const Objective<float>& objective,
                                          const TrainOptions& options, bool trace,
                                          std::chrono::milliseconds silence);

 private:
  Ranks();
  struct Job;
  struct Delete {
    void operator()(Job* job) const;
  };
  std::unique_ptr<Job, Delete> job_;
};

}  // namespace dasgd::python
