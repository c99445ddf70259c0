#include "dasgd/lab/experiments/burst.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "dasgd/core/objective.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "dasgd/theory/bounds.hpp"
#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

/// f(x) = x^2 / 2 up to |x| = 1 and |x| - 1/2 beyond, from x^0 = 1. L = 1, and no gradient is
/// larger than Q = 1: Assumption 4 holds.
struct Huber final : Objective<double> {
  static constexpr double Q = 1;
  static double slope(double x) { return std::clamp(x, -Q, Q); }
  std::size_t dimension() const override { return 1; }
  std::vector<double> start() const override { return {1}; }
  KnownConstants known() const override { return {.smoothness = 1, .least_loss = 0}; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    g[0] = slope(x[0]);
    return std::fabs(x[0]) <= Q ? x[0] * x[0] / 2 : std::fabs(x[0]) - 0.5;
  }
};

/// The models of all workers along a trace.
struct Replay {
  std::vector<double> sum_of_squares;  // per worker
  explicit Replay(const std::vector<TraceLine>& trace, std::size_t workers, double eta)
      : sum_of_squares(workers, 0) {
    std::vector<double> x(workers, Huber().start().front());
    std::map<GradientName, double> gradients;
    for (const TraceLine& a : trace) {
      double& here = x[index(a.worker)];
      const double slope = Huber::slope(here);
      if (a.worker == a.name.origin) gradients[a.name] = slope;
      sum_of_squares[index(a.worker)] += slope * slope;
      here -= eta * gradients.at(a.name);
    }
  }
};

}  // namespace

BurstResult run_burst(const std::string& path) {
  const TrainOptions plan{.workers = 4, .eta = 0.5, .gradients = {69, 1, 1, 1}};
  const VirtualWorld world{
      .compute = TimeModel::per_item({1'500'000, 1'000'000, 1'000'000, 1'000'000}),
      .latency = TimeModel::constant(100'000),
      .apply = 0};
  TraceWriter writer(path, 1);
  TrainOptions options = plan;
  options.trace = &writer;
  simulate(Huber(), options, world);
  writer.finish();

  const auto trace = read_trace(path).applications;
  const TraceCheck check = check_trace(trace);
  const Replay replay(trace, plan.workers, plan.eta);
  const auto worst = std::max_element(replay.sum_of_squares.begin(), replay.sum_of_squares.end());
  const auto worst_worker =
      worker_id(static_cast<std::size_t>(worst - replay.sum_of_squares.begin()));

  BurstResult exhibit{.gradients = check.gradients,
                      .eta = plan.eta,
                      .L = *Huber().known().smoothness,
                      .r0 = Huber().loss(Huber().start()),
                      .staleness = check.staleness,
                      .sum_of_squares = *worst};
  for (const auto& event : check.events)
    if (event.worker == worst_worker) exhibit.bursts.push_back(event.S);
  while (!exhibit.bursts.empty() && exhibit.bursts.back() == 0) {
    exhibit.bursts.pop_back();
    ++exhibit.quiet;
  }
  exhibit.Q = Huber::Q;
  const auto N = static_cast<double>(exhibit.gradients);
  exhibit.published_bound_1 =
      N * theory::published_bound_1({.r0 = exhibit.r0, .L = exhibit.L, .Q = exhibit.Q}, plan.eta, N,
                                    check.staleness.S_avg);
  exhibit.published_eta_1 = theory::published_eta_1(exhibit.L, check.staleness.S_avg);
  exhibit.published_bound =  // of the sum: the mean over one application
      theory::published_bound_2({.r0 = exhibit.r0, .L = exhibit.L}, plan.eta, 1);
  exhibit.published_eta = theory::published_eta_2(exhibit.L, check.staleness.S_hat_avg,
                                                  static_cast<double>(check.staleness.S_hat_max));
  exhibit.certified_eta = theory::certified_eta(exhibit.L, *check.staleness.W);
  return exhibit;
}

std::string to_json(const BurstResult& e) {
  return nlohmann::ordered_json{{"gradients", e.gradients},
                                {"eta", e.eta},
                                {"L", e.L},
                                {"r0", e.r0},
                                {"S", e.bursts},
                                {"quiet", e.quiet},
                                {"Q", e.Q},
                                {"S_avg", e.staleness.S_avg},
                                {"S_hat_avg", e.staleness.S_hat_avg},
                                {"S_hat_max", e.staleness.S_hat_max},
                                {"published_eta_1", e.published_eta_1},
                                {"published_eta_2", e.published_eta},
                                {"sum_of_squared_gradients", e.sum_of_squares},
                                {"published_bound_1", e.published_bound_1},
                                {"published_bound", e.published_bound},
                                {"certified_eta", e.certified_eta}}
             .dump(2) +
         "\n";
}

}  // namespace dasgd
