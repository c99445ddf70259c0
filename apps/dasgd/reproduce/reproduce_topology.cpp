#include <algorithm>
#include <fmt/format.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/lab/experiments/burst.hpp"
#include "dasgd/lab/experiments/topology_staleness.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

// All are in the files; these show how each regime grows.
bool in_table(const TopologyRun& run) {
  return run.workers == 2 || run.workers == 4 || run.workers == 9 || run.workers == 16 ||
         run.workers == 25 || !run.agrees();
}

void print_table(const std::vector<TopologyRun>& runs) {
  print_result("{:36} {:>3} | {:>10} {:>10} {:>9} {:>9} | {:>6} {:>6} {:>6} |\n", "", "n", "S_avg",
               "exact", "many", "paper", "S_max", "exact", "paper");
  for (const TopologyRun& r : runs) {
    if (!in_table(r)) continue;
    const std::string name =
        r.topology.starts_with("torus:") ? r.topology + r.regime.substr(5) : r.regime;
    print_result("{:36} {:>3} | {:>10.4f} {:>10.4f} {:>9.3f} {:>9} | {:>6} {:>6} {:>6} | {}\n",
                 name, r.workers, r.S_avg, r.exact_S_avg, r.exact.S_avg,
                 r.published ? fmt::format("{:.1f}", r.published->S_avg) : "-", r.S_max,
                 r.exact.S_max, r.published ? fmt::format("{}", r.published->S_max) : "-",
                 r.agrees() ? "agrees" : "DIFFERS");
  }
  const auto agree = std::count_if(runs.begin(), runs.end(), [](auto& r) { return r.agrees(); });
  print_result(
      "{} of {} simulations agree with the exact sum of |S| and S_max to the last integer\n", agree,
      runs.size());
}

const char* verdict(const BurstResult& b, double eta, double bound) {
  return b.eta <= eta && b.sum_of_squares > bound ? "BROKEN" : "holds";
}

void print_burst(const BurstResult& b, const std::string& trace) {
  print_result(
      "\nA burst that breaks Theorem 1: 4 workers, f = x^2 / 2 up to |x| = 1, |x| - 1/2 beyond,\n"
      "x0 = 1, eta = {}, {} gradients\n"
      "  |S|                            {}, then {} times 0\n"
      "  S_hat_avg, S_hat_max           {:.0f}/{}, {}\n"
      "  sum of squared gradients       {:.6f}, no gradient above Q = {:.6g}\n"
      "  Theorem 1, first form          at most {:.6f} for eta up to {:.6g} = 1 / (4 L S_avg)   "
      "{}\n"
      "  Theorem 1, second form         at most {:.6f} for eta up to {:.6g} = 1 / (4 L sqrt("
      "S_hat_avg S_hat_max))   {}\n"
      "  eta allowed by the certificate {:.6g}\n"
      "  dasgd check {} --eta {} --L {}\n",
      b.eta, b.gradients, fmt::join(b.bursts, ", "), b.quiet,
      b.staleness.S_hat_avg * static_cast<double>(b.gradients), b.gradients, b.staleness.S_hat_max,
      b.sum_of_squares, b.Q, b.published_bound_1, b.published_eta_1,
      verdict(b, b.published_eta_1, b.published_bound_1), b.published_bound, b.published_eta,
      verdict(b, b.published_eta, b.published_bound), b.certified_eta, trace, b.eta, b.L);
}

}  // namespace

void reproduce_topology(const Experiment& experiment) {
  TopologyPlan plan;
  plan.threads = all_cores();
  if (experiment.quick) plan.workers = {2, 3, 4, 6, 9, 12, 16, 20, 25};
  make_directory(experiment.directory);
  const auto runs = run_topologies(plan, show_simulations);
  const std::string trace = experiment.directory + "/burst.jsonl";
  const BurstResult burst = run_burst(trace);
  write_files(experiment, to_csv(runs), to_json(runs), to_svg(runs));
  write_file(experiment.directory + "/burst.json", to_json(burst));
  print_table(runs);
  print_burst(burst, trace);
  print_result(
      "{} gradients per worker, compute 1 ms, latency 10 us, apply 1 ns; n = 2 .. 25 in "
      "{}.csv, .json, .svg\n",
      plan.gradients, experiment.stem());
}

}  // namespace dasgd::app
