// What a comparison is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// Where everybody runs: clocks, links, graph. The options hold what is common to all runs there.
struct ContestWorld {
  std::string name;
  TrainOptions options;
  VirtualWorld world;
};

/// When a mean model is good enough.
struct Goal {
  enum class Kind { loss, accuracy, error };
  Kind kind = Kind::loss;
  double value = 0;
  /// Judged on what the last worker has of the common model instead of the mean of all models:
  /// the mean of workers that never exchange anything has less noise than any of theirs.
  bool of_last_worker = false;
};
std::string to_string(const Goal& goal);
/// The same with a value of many digits rounded.
std::string for_people(const Goal& goal);

/// How the step sizes are found.
struct Tuning {
  std::size_t steps = 9;    ///< at a factor of 2 around the advice; 0: off
  std::size_t seeds = 3;    ///< of each
  std::size_t further = 4;  ///< steps beyond an end that is best; least values of a number
  double patience = 2;      ///< a run is given so many times the best median so far
  double share = 1;         ///< and no more than this of the time that runs that count have
  bool numbers = true;      ///< a rival's own number is tuned as well, see tune_number
};

/// What everybody runs on.
enum class ContestEngine { sim, threads, mpi };
ContestEngine parse_contest_engine(const std::string& text);
std::string to_string(ContestEngine engine);

struct Contest {
  std::vector<ChosenRival> rivals;
  std::vector<ContestWorld> worlds;
  Goal goal;
  Nanoseconds every = 0;  ///< the grid of evaluation
  std::size_t seeds = 10;
  Tuning tuning;
  double advised_eta = 0.01;  ///< the middle of the steps that are tried
  /// Steps that were given: by the label of a rival, or "" for all.
  std::vector<std::pair<std::string, double>> given_eta;
  /// A run that counts is ended when it has taken so many times the best tuned median of its world:
  /// it cannot be first any more. 0: it has all the time of the world.
  double most_times_best = 20;
  bool preempt = false;
  /// On a real one steps are tuned and times are predicted in virtual time; then everybody runs for
  /// real, one run at a time.
  ContestEngine engine = ContestEngine::sim;
  /// A goal ends a run at once, and sums of all workers are one event: see PlayOptions::meet.
  bool brief = false;
  std::size_t measured_S = 2048;  ///< gradients of a run whose staleness is measured; 0: none
  std::uint64_t seed = 1;
  unsigned threads = 1;
};

/// One look at a run.
struct CurvePoint {
  double time_s = 0;
  std::uint64_t gradients = 0, bytes = 0;
  double loss_mean = 0;
  std::optional<double> accuracy_mean;
  double consensus = 0;
};

/// A line of compare.csv.
struct ContestRun {
  std::string rival, world;
  std::uint64_t seed = 0;
  double eta = 0;
  bool tuned = false, reached = false;
  bool lost = false;  ///< ended because it went away from the goal
  double time_s = 0;
  std::uint64_t gradients_used = 0, gradients_wasted = 0, samples = 0;
  std::optional<double> S_avg, S_max;
  std::uint64_t messages = 0, bytes_total = 0, bytes_busiest_node = 0;
  double idle_share = 0, consensus = 0, loss_mean = 0, loss_worst = 0;
  std::optional<double> accuracy_mean, accuracy_worst;
  double memory_models = 0;        ///< the most that a node kept at any look, in models
  std::uint64_t lost_updates = 0;  ///< numbers that were overwritten, see Port::overwrite
  std::vector<CurvePoint> curve;

  /// Infinite where the goal was not reached.
  double time_to_goal() const;
  /// Those of so many of its gradients.
  double samples_per_second(std::uint64_t gradients) const;
};

/// How far one look, or a run at its end, is from the goal; less is better.
double distance_to(const Goal& goal, const CurvePoint& at);
double distance_to(const Goal& goal, const ContestRun& run);

/// A step size that was tried.
struct Trial {
  double eta = 0;
  double median = 0;    ///< of the times to the goal; infinite where most did not reach it
  double loss = 0;      ///< median of the last losses
  double distance = 0;  ///< and of the last distances to the goal
};

/// All that happened to one rival in one world.
struct ContestRow {
  std::string rival, world;
  std::vector<ContestRun> runs;       ///< of fresh seeds
  std::vector<ContestRun> predicted;  ///< where they are real: the same in virtual time
  std::vector<Trial> trials;          ///< ascending
  std::size_t tuning_runs = 0;
  double eta = 0;
  RivalNumbers numbers = {};  ///< as they were chosen
  bool tuned = false;         ///< the step was chosen from those that were tried
  bool at_edge = false;       ///< and is the last of them
  double given_s = 0;         ///< the time after which its runs were ended
};

/// A stop was asked for; what was finished is in the journal.
class ContestInterrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dasgd
