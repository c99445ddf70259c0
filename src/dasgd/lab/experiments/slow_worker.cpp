#include "dasgd/lab/experiments/slow_worker.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dasgd/lab/experiments/progress.hpp"
#include "dasgd/lab/experiments/slow_worker_cells.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/theory/published_rate.hpp"
#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

std::vector<SlowWorkerRun> all_of(const SlowWorkerPlan& plan, const std::string& way) {
  std::vector<SlowWorkerRun> runs;
  for (const double eta : plan.etas)
    for (const double factor : plan.factors)
      for (const std::uint64_t seed : plan.seeds) {
        runs.push_back({.eta = eta, .factor = factor, .seed = seed});
        runs.back().way = way;
      }
  return runs;
}

TrainOptions options_of(const SlowWorkerRun& run, const Objective<double>& f, double target) {
  TrainOptions options{.workers = run.factor == 0 ? 1u : 2u,
                       .eta = run.eta,
                       .batch = 0,
                       .target_error = target,
                       .seed = run.seed};
  options.smoothness = f.known().smoothness;
  if (run.factor > 1) options.slow = {{WorkerId{1}, run.factor}};
  return options;
}

void take(TrainResult<double> result, const Objective<double>& problem, const SlowWorkerPlan& plan,
          SlowWorkerRun& run) {
  if (result.failure) result.summary.stop_reason = StopReason::diverged;
  const KnownConstants known = problem.known();
  run.L = known.smoothness.value_or(std::nan(""));
  run.r0 = problem.loss(problem.start()) - known.least_loss.value_or(std::nan(""));
  if (plan.gradient_bound) run.Q = plan.gradient_bound(problem);
  run.summary = std::move(result.summary);
  const auto& step = run.summary.step;
  run.squared_gradients = step && step->certificate
                              ? step->certificate->left / double(run.summary.gradients)
                              : std::nan("");
}

// What Theorem 1 says of a run, added to its point with a weight.
void hold_against_theorem(const SlowWorkerRun& run, double weight, SlowWorkerPoint& point) {
  const StalenessSummary& s = run.summary.staleness;
  const theory::Constants c{run.r0, run.L, 0, run.Q.value_or(std::nan(""))};
  const double mean = run.squared_gradients, S_hat_max = static_cast<double>(s.S_hat_max);
  const bool stale = S_hat_max > 0;  // else the printed rates are 0
  const auto psi_1 = [&](double N) { return theory::published_psi_1(c, N, s.S_avg); };
  const auto psi_2 = [&](double N) {
    return theory::published_psi_2(c, N, s.S_hat_avg, S_hat_max);
  };
  const auto N = static_cast<double>(run.summary.gradients);
  point.squared_gradients += weight * mean;
  point.predicted_2 += weight * theory::published_bound_2(c, run.eta, 1) / mean;
  point.psi_1 += weight * (stale && run.Q ? theory::iterations_until(psi_1, mean) : std::nan(""));
  point.psi_2 += weight * (stale ? theory::iterations_until(psi_2, mean) : std::nan(""));
  point.first_form += weight * mean / theory::published_bound_1(c, run.eta, N, s.S_avg);
}

// A figure of one worker of a run; nothing of a worker that is not there.
template <typename T>
std::string cell(const std::vector<T>& by_worker, std::size_t worker, double unit = 1) {
  return worker < by_worker.size()
             ? fmt::format("{}", static_cast<double>(by_worker[worker]) * unit)
             : "";
}

}  // namespace

std::vector<SlowWorkerRun> run_slow_worker(const ProblemOfSeed& problem, const SlowWorkerPlan& plan,
                                           const DoneSoFar& progress) {
  std::vector<std::unique_ptr<Objective<double>>> problems;
  for (const std::uint64_t seed : plan.seeds) problems.push_back(problem(seed));
  std::vector<SlowWorkerRun> runs = all_of(plan, "virtual");
  in_parallel(runs.size(), plan.threads, progress, [&](std::size_t k) {
    const auto& f = *problems[k % plan.seeds.size()];
    take(run_simulation<double>(f, options_of(runs[k], f, plan.target_error), {}), f, plan,
         runs[k]);
  });
  return runs;
}

std::vector<SlowWorkerRun> run_slow_worker_for_real(const ProblemOfSeed& problem,
                                                    const SlowWorkerPlan& plan,
                                                    const RealEngine& engine,
                                                    const DoneSoFar& progress) {
  const auto wanted = all_of(plan, engine.way);
  const SlowWorkerCells cells(engine.first ? plan.cells : "", plan);
  std::vector<SlowWorkerRun> runs;
  bool interrupted = false;
  for (SlowWorkerRun run : wanted) {
    auto kept = cells.find(run);
    if (!engine.of_rank_zero(!interrupted && !plan.stop.stop_requested())) break;
    if (engine.of_rank_zero(!kept)) {
      const auto f = problem(run.seed);
      TrainOptions options = options_of(run, *f, plan.target_error);
      options.compute = plan.compute;
      options.compute_adds = true;
      options.stop = plan.stop;
      auto result = engine.train(*f, options);
      if (!result) continue;
      interrupted = result->summary.stop_reason == StopReason::interrupted;
      if (interrupted) continue;
      take(*std::move(result), *f, plan, run);
      cells.keep(run);
      kept = std::move(run);
    }
    if (!kept) continue;  // rank 0 has it
    runs.push_back(*std::move(kept));
    progress(runs.size(), wanted.size());
  }
  return runs;
}

std::vector<SlowWorkerPoint> summarise(const std::vector<SlowWorkerRun>& runs) {
  std::vector<SlowWorkerPoint> points;
  for (std::size_t first = 0; first < runs.size();) {
    std::size_t last = first;
    while (last < runs.size() && runs[last].eta == runs[first].eta &&
           runs[last].factor == runs[first].factor)
      ++last;
    SlowWorkerPoint point{
        .eta = runs[first].eta, .factor = runs[first].factor, .way = runs[first].way};
    const auto n = static_cast<double>(last - first);
    const std::size_t workers = runs[first].summary.iterations.size();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      std::vector<double> iterations, seconds;
      for (std::size_t k = first; k < last; ++k) {
        iterations.push_back(static_cast<double>(runs[k].summary.iterations[worker]));
        seconds.push_back(static_cast<double>(runs[k].summary.time[worker]) * 1e-9);
      }
      point.iterations.push_back(report::mean_of(iterations));
      point.seconds.push_back(report::mean_of(seconds));
    }
    for (std::size_t k = first; k < last; ++k) {
      const StalenessSummary& s = runs[k].summary.staleness;
      point.S_avg += s.S_avg / n;
      point.S_max += static_cast<double>(s.S_max) / n;
      point.S_hat_avg += s.S_hat_avg / n;
      point.S_hat_max += static_cast<double>(s.S_hat_max) / n;
      point.published_eta_1 += theory::published_eta_1(runs[k].L, s.S_avg) / n;
      point.published_eta_2 +=
          theory::published_eta_2(runs[k].L, s.S_hat_avg, static_cast<double>(s.S_hat_max)) / n;
      point.certified_eta += theory::certified_eta(runs[k].L, s.W.value_or(0)) / n;
      hold_against_theorem(runs[k], 1 / n, point);
    }
    points.push_back(point);
    first = last;
  }
  return points;
}

std::string to_csv(const std::vector<SlowWorkerRun>& runs) {
  std::string text =
      "eta,slow,seed,L,iterations_0,iterations_1,seconds_0,seconds_1,S_avg,S_max,S_hat_avg,S_hat_"
      "max,W,stop_reason,way\n";
  for (const SlowWorkerRun& r : runs) {
    const RunSummary& s = r.summary;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.eta, r.factor, r.seed,
                        r.L, cell(s.iterations, 0), cell(s.iterations, 1), cell(s.time, 0, 1e-9),
                        cell(s.time, 1, 1e-9), s.staleness.S_avg, s.staleness.S_max,
                        s.staleness.S_hat_avg, s.staleness.S_hat_max, s.staleness.W.value_or(0),
                        to_string(s.stop_reason), r.way);
  }
  return text;
}

std::string to_json(const std::vector<SlowWorkerPoint>& points) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const SlowWorkerPoint& p : points) {
    nlohmann::ordered_json workers = nlohmann::ordered_json::array();
    for (std::size_t w = 0; w < p.iterations.size(); ++w)
      workers.push_back(
          {{"iterations",
            {{"mean", p.iterations[w].mean}, {"deviation", p.iterations[w].deviation}}},
           {"seconds", {{"mean", p.seconds[w].mean}, {"deviation", p.seconds[w].deviation}}}});
    all.push_back({{"eta", p.eta},
                   {"slow", p.factor},
                   {"way", p.way},
                   {"workers", workers},
                   {"expected_S_hat_max", p.factor},
                   {"S_avg", p.S_avg},
                   {"S_max", p.S_max},
                   {"S_hat_avg", p.S_hat_avg},
                   {"S_hat_max", p.S_hat_max},
                   {"published_eta_1", json_number(p.published_eta_1)},
                   {"published_eta_2", json_number(p.published_eta_2)},
                   {"certified_eta", json_number(p.certified_eta)},
                   {"eta_over_published_eta_2", json_number(p.eta / p.published_eta_2)},
                   {"mean_squared_gradient", json_number(p.squared_gradients)},
                   {"predicted_T_2", json_number(p.predicted_2)},
                   {"psi_T_1", json_number(p.psi_1)},
                   {"psi_T_2", json_number(p.psi_2)},
                   {"first_form_ratio", json_number(p.first_form)}});
  }
  return all.dump(2) + "\n";
}

std::string expected_and_measured(const std::vector<SlowWorkerPoint>& points) {
  std::string expected, measured;
  for (const SlowWorkerPoint& p : points) {
    if (p.eta != points.front().eta) continue;
    const char* const comma = expected.empty() ? "" : ", ";
    expected += fmt::format("{}{:g}", comma, p.factor);
    measured += fmt::format("{}{:g}", comma, p.S_hat_max);
  }
  return fmt::format("The paper expects S_hat_max = x = {}; here it is {} (x = 0: one worker).",
                     expected, measured);
}

std::string predicted_and_measured(const std::vector<SlowWorkerPoint>& points) {
  std::string text = fmt::format("{:>6} {:>5} {:>12} {:>14} {:>14} {:>7} {:>12} {:>12} {:>10}\n",
                                 "eta", "x", "T measured", "mean |grad|^2", "T, 2nd form", "times",
                                 "Psi_T, 1st", "Psi_T, 2nd", "1st form");
  const auto shown = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : std::string("-");
  };
  for (const SlowWorkerPoint& p : points)
    text += fmt::format("{:>6g} {:>5g} {:>12.0f} {:>14.4g} {:>14} {:>7} {:>12} {:>12} {:>10}\n",
                        p.eta, p.factor, p.iterations[0].mean, p.squared_gradients,
                        shown(p.predicted_2), shown(p.predicted_2 / p.iterations[0].mean),
                        shown(p.psi_1), shown(p.psi_2), shown(p.first_form));
  return text;
}

std::string to_svg(const std::string& title, const std::vector<SlowWorkerPoint>& points) {
  // The longest pause of a real worker is S_hat_max, so that it does not rise with x.
  const bool is_virtual = points.front().way == "virtual";
  const std::string axis = is_virtual ? "S_hat_max, measured" : "x, times slower (0: one worker)";
  const auto at = [&](const SlowWorkerPoint& p) { return is_virtual ? p.S_hat_max : p.factor; };
  PlotPanel iterations{title + ": iterations to the target", axis, "iterations", {}, false, false};
  PlotPanel seconds{fmt::format("{}: {}time to the target", title, is_virtual ? "virtual " : ""),
                    axis,
                    "seconds",
                    {},
                    false,
                    false};
  for (std::size_t w = 0; w < 2; ++w) {
    PlotSeries i{w == 0 ? "worker 0" : "worker 1, x times slower", {}, {}, {}}, s = i;
    for (const SlowWorkerPoint& p : points) {
      if (p.eta != points.front().eta || w >= p.iterations.size()) continue;
      i.x.push_back(at(p));
      i.y.push_back(p.iterations[w].mean);
      i.deviation.push_back(p.iterations[w].deviation);
      s.x.push_back(at(p));
      s.y.push_back(p.seconds[w].mean);
      s.deviation.push_back(p.seconds[w].deviation);
    }
    if (i.x.empty()) continue;
    iterations.series.push_back(i);
    seconds.series.push_back(s);
  }
  std::vector<PlotPanel> panels{iterations, seconds};
  PlotPanel sweep{title + ": where the invariance ends",
                  axis,
                  fmt::format("iterations relative to x = {:g}", points.front().factor),
                  {},
                  false,
                  false};
  double base = 0;
  for (const SlowWorkerPoint& p : points) {
    if (p.factor == points.front().factor) {
      base = p.iterations[0].mean;
      sweep.series.push_back({fmt::format("eta {}", p.eta), {}, {}, {}});
    }
    sweep.series.back().x.push_back(at(p));
    sweep.series.back().y.push_back(p.iterations[0].mean / base);
  }
  if (sweep.series.size() > 1) panels.push_back(sweep);
  return plot_svg(panels);
}

}  // namespace dasgd
