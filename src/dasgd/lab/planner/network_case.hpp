// One run over one network, simulated for several settings of the exchange.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

/// Workers, and the network between them.
struct NetworkCase {
  std::size_t workers = 16;
  double numbers = 93'322;       ///< of the model: what messages are made of
  std::size_t number_bytes = 4;  ///< of one of them in a full message
  std::size_t batch = 1;         ///< samples of a gradient of the problem that is simulated
  std::optional<double>
      card;  ///< bytes per second of each worker's card, out and in; nothing: no end
  Nanoseconds latency = 50'000;
  TimeModel compute = TimeModel::constant(1'000'000'000);  ///< per gradient

  double seconds_per_gradient() const;
  double model_bytes() const { return numbers * static_cast<double>(number_bytes); }
};

/// How much is simulated.
struct NetworkEffort {
  double applications = 2e6;  ///< of gradients, at most, in one run: workers^2 x gradients of one
  double gradients = 300;     ///< of one worker, beside those of 40 all-reduces
  std::size_t steps = 3;      ///< step sizes that are tried, at a factor of 2; more at the ends
  std::size_t further = 3;
  std::size_t seeds = 1;                                    ///< of each step; their median counts
  std::function<bool()> time_is_up = [] { return false; };  ///< asked before every run
  std::stop_token stop;  ///< ends a run; throws ContestInterrupted
};

/// How one way did.
struct NetworkRow {
  std::string way;  ///< as a rival of `dasgd compare`
  double eta = 0;
  bool reached = false;
  double seconds = 0;  ///< to the goal, or as long as it was given
  std::optional<double> S_avg;
  double card_bytes_per_second = 0;  ///< of the busiest card, the mean of out and in
  double gradients_per_second = 0;   ///< of all workers
  double loss = 0;                   ///< at the end, as a share of that at the start
  std::string left_out;              ///< why it was not simulated; empty: it was

  bool was_run() const { return left_out.empty(); }
};

/// "12 s", ">= 12 s" where the goal was not reached, or why it was not simulated.
std::string time_of(const NetworkRow& row);

/// The time that every way is given in a case.
Nanoseconds time_given(const NetworkCase& network, const NetworkEffort& effort);

/// Finds a step size around `middle` and returns the best run. The goal is judged on what the last
/// worker, a leaf of trees, has of the common model. Deterministic but for `time_is_up`.
/// A mesh whose messages are too many is left out.
template <typename Real>
NetworkRow simulate_way(const Objective<Real>& objective, const NetworkCase& network,
                        const Goal& goal, const std::string& way, double middle,
                        const NetworkEffort& effort);

/// a is better: it reaches the goal earlier, or comes nearer to it, by more than `tie`.
bool is_better(const NetworkRow& a, const NetworkRow& b, double tie = 0);

}  // namespace dasgd
