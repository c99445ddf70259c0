// The experiments that `dasgd reproduce` repeats, one function each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dasgd/config/engine.hpp"
#include "terminal/exit_status.hpp"

namespace dasgd::app {

using config::EngineKind;

/// What of Figure 2 is not as it is by default.
struct FigureChoice {
  std::optional<std::uint64_t> seeds;
  std::optional<double> eta;
  /// Of real runs: added to a gradient's own time; of (c) without a plus: what it takes at least;
  /// empty: as the paper.
  std::string compute;
  // Of (a) and (b):
  std::vector<double> slow;  ///< x; empty: 0 to 100
  std::optional<double> target_error;
  // Of (c):
  std::vector<std::size_t> workers;  ///< empty: 1 to 25
  std::optional<double> target_loss;
  std::optional<std::uint64_t> gradients;  ///< at which a run gives up; 0: never
  std::string data, scale, device;         ///< as of `train`; empty: cifar10, standard, cpu

  bool any_of_all() const { return seeds || eta || !compute.empty(); }
  bool any_of_slow_worker() const { return !slow.empty() || target_error; }
  bool any_of_cifar() const {
    return !workers.empty() || target_loss || gradients || !data.empty() || !scale.empty() ||
           !device.empty();
  }
};

struct ReproduceRequest {
  std::string what;  ///< one of `reproducible()`
  bool quick = false;
  std::string out;
  FigureChoice choice;
  EngineKind engine = EngineKind::automatic;
};
/// The experiments that can be repeated, and "all".
std::vector<std::string> reproducible();
/// Repeats an experiment.
int reproduce_command(const ReproduceRequest& request);

/// Where and how thoroughly.
struct Experiment {
  std::string what, directory;
  bool quick = false;
  FigureChoice choice = {};
  bool on_threads = false;  ///< of Figure 2: real threads instead of virtual time
  std::string stem() const { return directory + "/" + what; }
};

/// Figure 2 (a) and (b) of the paper: "logistic" and "quadratic"; in virtual time, or on threads.
void reproduce_slow_worker(const Experiment& experiment);
/// The same on the two ranks of an MPI job. False on the rank that leaves the rest to rank 0.
bool reproduce_slow_worker_on_ranks(const Experiment& experiment);
/// Staleness on graphs, and the burst that breaks Theorem 1.
void reproduce_topology(const Experiment& experiment);

/// Published numbers of rivals, in virtual time.
void reproduce_rivals(const Experiment& experiment);

/// Many workers behind thin cards, beside rivals, in virtual time. Throws Interrupted on Ctrl-C.
void reproduce_network(const Experiment& experiment);

/// Figure 2 (c) of the paper. Throws Interrupted on Ctrl-C; what was finished is kept.
void reproduce_cifar(const Experiment& experiment);

/// The same on the ranks of an MPI job. False on the ranks that leave the rest to rank 0.
bool reproduce_cifar_on_ranks(const Experiment& experiment);

/// An experiment was stopped by a signal; the message says how to go on.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of an experiment, once it is known to be possible. Throws InputError.
void make_directory(const std::string& directory);
/// What every experiment leaves there.
void write_files(const Experiment& experiment, const std::string& csv, const std::string& json,
                 const std::string& svg);
/// "50ms" or "+50ms". Throws InputError.
std::chrono::nanoseconds time_of(const std::string& text);
/// The cores to use.
unsigned all_cores();
/// Shows on a terminal how far it is; removes the line when all is done.
void show_simulations(std::size_t done, std::size_t total);

}  // namespace dasgd::app
