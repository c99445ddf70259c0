// The commands of dasgd. Each returns the exit status.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/record/trace/checked_run.hpp"
#include "terminal/exit_status.hpp"

namespace dasgd::app {

using config::Config;

/// The problem of a resolved config; says what computes it. Throws InputError.
Problem read_problem(const Config& config);

/// Opens the stream of a config as reader `part` of `parts`, and puts into the config its shape and
/// its source. Null if a stop is requested before its first rows have come. Throws InputError.
std::shared_ptr<const StreamProblem> open_stream_of(Config& config, const std::stop_token& stop,
                                                    std::size_t part = 0, std::size_t parts = 1);

/// Trains on threads, or on the ranks of an MPI job, and writes the run directory. `read` gives the
/// resolved config; a mistake that only one rank finds must be reported by another.
int train_command(const std::function<Config()>& read);

/// Trains as a member of an elastic run: the first one.
int train_elastic(Config config);

/// Simulates a resolved config in virtual time and writes its run directory.
int simulate_command(const Config& config);

/// Runs rivals in worlds and judges them.
int compare_command(const Config& config);
/// Prints who can be compared and where.
int compare_list_command(const Config& config);

struct CheckRequest {
  std::vector<std::string> paths;  ///< one trace or run; or several members of an elastic run
  CheckOptions options;
  bool json = false;
};
/// Audits a trace, or that of a run directory.
int check_command(const CheckRequest& request);

struct LaunchRequest {
  unsigned workers = 2;
  std::vector<std::string> program;  ///< with its arguments
  bool bare = false;                 ///< do not prefix output lines with the rank

  // Where workers are members of an elastic run.
  bool elastic = false;
  std::string listen, join, advertise, token_file, out;
  std::optional<std::chrono::nanoseconds> gone_after;
  unsigned restarts = 3;  ///< of one worker
};
/// Becomes a launcher that runs a program once per worker.
int launch_command(const LaunchRequest& request);
/// Runs a program once per member, and again in the place of one that dies.
int launch_members(const LaunchRequest& request);

struct JoinRequest {
  std::vector<std::string> addresses;  ///< of members; or one run directory of a former member
  std::string data;
  config::ElasticSettings elastic;
  config::OutputSettings output;
  bool dial_out_only = false;
  std::optional<double> slow;
};
/// Takes part in a run that goes on elsewhere.
int join_command(const JoinRequest& request);

struct MemberRequest {
  std::string directory;
  std::string line;  ///< the command that the member gets
  bool json = false;
};
/// Sends a command to a member that runs in a directory of this machine.
int member_command(const MemberRequest& request);

struct AdviseRequest {
  Config config;
  std::string from;  ///< a run directory whose staleness is taken; empty: a pilot
  std::optional<double> accuracy, least_loss;
  bool config_of_run = false;  ///< the config is that of the run in `from`, but for options
  bool world_given = false;    ///< the world of a simulation was described
  bool compute_given = false;  ///< and how long a gradient takes there
  bool latency_given = false;

  // Of a plan for a network:
  std::string
      network;  ///< bytes per second of a card as it was written, or "measured"; empty: none
  std::optional<double> parameters;  ///< of a model that is not here
  std::chrono::nanoseconds plan_time = std::chrono::seconds(10);
};
/// Measures a problem and its staleness, and prints step sizes with their grounds.
int advise_command(const AdviseRequest& request);
/// Simulates settings of the exchange of updates over a network, and recommends one.
int plan_command(const AdviseRequest& request);

struct ReportRequest {
  std::vector<std::string> runs;  ///< directories
  std::string out;                ///< empty: the run directory, or runs/report for several
  bool text = false;
};
/// Writes the report of one run or of several side by side.
int report_command(const ReportRequest& request);

struct ExportRequest {
  std::vector<std::string> paths;  ///< of sweeps and runs
  std::string out;                 ///< empty: the one that was given, or runs/export for several
  bool no_wall_time = false;
};
/// Writes runs as CSV tables.
int export_command(const ExportRequest& request);

struct PredictRequest {
  std::string model;  ///< a run directory or a TorchScript file
  std::string data;   ///< as --data of train; "-": CSV on standard input
  std::string out;    ///< a file; empty: standard output
  bool json = false;
};
/// Answers on raw data: a line for each row.
int predict_command(const PredictRequest& request);

/// Lists the data sets that are known by name.
int data_list_command();
struct DescribeRequest {
  std::string data, label, resize, picture;
  std::vector<std::string> exclude = {};
};
/// Prints what is understood of a data set.
int data_describe_command(const DescribeRequest& request);
/// Makes a data set available and verifies it; from `archive` where one is given.
int data_get_command(const std::string& name, const std::string& archive);

}  // namespace dasgd::app
