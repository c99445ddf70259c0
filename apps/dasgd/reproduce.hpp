// The experiments that `dasgd reproduce` repeats, one function each.
#pragma once

#include <cstddef>
#include <string>

namespace dasgd::app {

/// Where and how thoroughly.
struct Experiment {
  std::string what, directory;
  bool quick = false;
  std::string stem() const { return directory + "/" + what; }
};

/// Figures (a) and (b) of the paper: "quadratic" and "logistic".
void reproduce_slow_worker(const Experiment& experiment);
/// Staleness on graphs, and the burst that breaks Theorem 1.
void reproduce_topology(const Experiment& experiment);

/// The cores to use.
unsigned all_cores();
/// Tells a person at a terminal how far it is; removes the line when all is done.
void show_simulations(std::size_t done, std::size_t total);

}  // namespace dasgd::app
