#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/lab/planner/network_study.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

constexpr double reached_rate = 0.97;  // of what unlimited cards allow

void print_cells(const std::vector<NetworkCell>& cells) {
  std::tuple<std::size_t, double, double> shown{};
  for (const NetworkCell& cell : cells) {
    const NetworkCase& network = cell.network;
    if (const std::tuple now{network.workers, network.numbers, *network.card}; now != shown) {
      print_result("{} workers, d = {}, cards of {}\n", network.workers,
                   show_count(static_cast<std::uint64_t>(network.numbers)),
                   show_rate(*network.card));
      shown = now;
    }
    const NetworkRow& row = cell.row;
    print_result("  {:<22} {:>11}", short_name(row.way), time_of(row));
    if (row.was_run())
      print_result("  {:>10} S  {:>12} on the busiest card  {:>7.4g} gradients/s",
                   row.S_avg ? fmt::format("{:.4g}", *row.S_avg) : "-",
                   show_rate(row.card_bytes_per_second), row.gradients_per_second);
    print_result("\n");
  }
}

void print_rates(const std::vector<NetworkRate>& rates) {
  print_result("gradients per second behind thin cards, relative to unlimited cards\n");
  for (const NetworkRate& rate : rates)
    print_result("  {:>3} workers, {:<7} {:>5} of thin-nic  {:.3f}\n", rate.workers, rate.relay,
                 rate.card, rate.ratio());
  const auto good =
      std::count_if(rates.begin(), rates.end(), [](auto& r) { return r.ratio() >= reached_rate; });
  print_result("  {} of {} are at least {}\n", good, rates.size(), reached_rate);
}

// Of the numbers of workers that the study has, those that were asked for.
void keep_workers(NetworkStudy& study, const std::vector<std::size_t>& wanted) {
  std::vector<std::size_t> known;
  for (NetworkStudy::Part& part : study.parts) {
    known.insert(known.end(), part.workers.begin(), part.workers.end());
    std::erase_if(part.workers, [&](auto n) { return std::ranges::count(wanted, n) == 0; });
  }
  for (const std::size_t n : wanted)
    if (std::ranges::count(known, n) == 0)
      throw InputError(fmt::format("--workers {}: network has {}", n,
                                   fmt::join(std::set(known.begin(), known.end()), ", ")));
}

}  // namespace

void reproduce_network(const Experiment& experiment) {
  NetworkStudy study = experiment.quick ? NetworkStudy::quick() : NetworkStudy::full();
  const SignalStop signals(SignalStop::Kind::silent);
  study.stop = signals.token();
  study.threads = all_cores();
  if (!experiment.choice.compute.empty()) {
    study.compute = time_of(experiment.choice.compute).count();
    if (study.compute <= 0) throw InputError("--compute 0: a gradient takes some time");
  }
  if (!experiment.choice.workers.empty()) keep_workers(study, experiment.choice.workers);
  make_directory(experiment.directory);
  NetworkFindings findings;
  try {
    findings = study_networks(study, show_simulations);
  } catch (const ContestInterrupted&) {
    throw Interrupted("interrupted; nothing was written");
  }
  write_files(experiment, to_csv(findings), to_json(findings), to_svg(findings));
  print_cells(findings.cells);
  print_rates(findings.rates);
  print_result("a small problem with messages of d numbers, {} per gradient; {}.csv, .json, .svg\n",
               show_duration(std::chrono::nanoseconds(study.compute)), experiment.stem());
}

}  // namespace dasgd::app
