// The commands of dasgd. Each returns the exit status.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config.hpp"

namespace dasgd::app {

enum ExitStatus { done = 0, run_failed = 1, bad_input = 2, interrupted = 130 };

/// Trains on threads, or on the ranks of an MPI job, and writes the run directory. `read` gives the
/// resolved config; a mistake that only one rank finds must be told by another.
int train_command(const std::function<Config()>& read);

/// Simulates a resolved config in virtual time and writes its run directory.
int simulate_command(const Config& config);

struct CheckRequest {
  std::string path;
  std::optional<double> eta, L;
  std::optional<Nanoseconds> tolerance;  ///< of clocks; what the trace states unless it is given
  bool json = false;
};
/// Audits a trace.
int check_command(const CheckRequest& request);

struct ReproduceRequest {
  std::string what;  ///< "quadratic" or "logistic"
  bool quick = false;
  std::string out;
};
/// Repeats an experiment of the paper in virtual time.
int reproduce_command(const ReproduceRequest& request);

/// Lists the data sets that are known by name.
int data_list_command();
/// Makes a data set available and verifies it.
int data_get_command(const std::string& name);

}  // namespace dasgd::app
