#include "dasgd/run/options.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/core/error.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {

Graph graph_of(const TrainOptions& o) {
  if (o.relay && o.relay->chooses_links()) {
    if (o.graph || o.topology != "full")
      throw InputError(
          fmt::format("`topology.relay` {} chooses the links: leave `topology.kind` "
                      "out, or take arrival, apply or none",
                      to_string(*o.relay)));
    if (o.relay->kind == RelayChoice::Kind::tree)
      return build_graph(to_string(*o.relay), o.workers, o.seed);
  }
  if (!o.graph) return build_graph(o.topology, o.workers, o.seed);
  if (o.graph->workers() != o.workers)
    throw InputError(
        fmt::format("the graph has {} workers and the run {}", o.graph->workers(), o.workers));
  return *o.graph;
}

RelayMode relay_of(const TrainOptions& options, const Graph& graph) {
  if (!options.relay || options.relay->chooses_links()) return default_relay(graph);
  return options.relay->mode;
}

TrainOptions bare_run(const TrainOptions& options, double eta) {
  TrainOptions bare{.workers = options.workers, .eta = eta};
  bare.topology = options.topology;
  bare.graph = options.graph;
  bare.relay = options.relay;
  bare.batch = options.batch;
  bare.sampling = options.sampling;
  bare.slow = options.slow;
  bare.time_factors = options.time_factors;
  bare.chaos = options.chaos;
  bare.compute = options.compute;
  bare.compute_adds = options.compute_adds;
  bare.seed = options.seed;
  bare.in_flight = options.in_flight;
  bare.message = options.message;
  bare.make_samples = options.make_samples;
  bare.stop = options.stop;
  bare.look_ahead = LookAhead{};
  return bare;
}

bool ends_without_budget(const TrainOptions& o) {
  return o.max_time || o.target_error || o.target_loss || o.evaluation.patience ||
         o.evaluation.target_accuracy || o.evaluation.target_loss;
}

double slow_factor(const TrainOptions& options, WorkerId worker) {
  double factor = 1;
  for (const SlowWorker& slow : options.slow)
    if (slow.worker == worker) factor = slow.factor;
  return options.time_factors.empty() ? factor : factor * options.time_factors[index(worker)];
}

double real_slow_factor(const TrainOptions& options, WorkerId worker) {
  const auto& factors = options.time_factors;
  const auto least = std::min_element(factors.begin(), factors.end());
  return slow_factor(options, worker) / (least == factors.end() ? 1 : std::min(1.0, *least));
}

LookAhead look_ahead_of(const TrainOptions& options, std::size_t samples) {
  if (options.workers == 1 && !options.elastic) return {};
  constexpr std::size_t most = 1024;  // each worker keeps a few numbers about each other one
  const bool studied = options.workers > most || options.target_error ||
                       options.measure_gradients || !gradients_have_noise(options, samples);
  LookAhead ahead =
      options.look_ahead.value_or(studied ? LookAhead{} : LookAhead{LookAhead::Kind::automatic});
  ahead.workers = options.elastic ? 0 : options.workers;
  return ahead;
}

std::size_t resolved_batch(const TrainOptions& options, std::size_t samples) {
  return options.batch.value_or(samples > 1 ? 32 : 0);
}

bool gradients_have_noise(const TrainOptions& options, std::size_t samples) {
  const std::size_t batch = resolved_batch(options, samples);
  const bool from_all =
      options.sampling == Sampling::own || (options.workers == 1 && options.sampling.deals());
  const bool all = !options.make_samples && (batch == 0 || (batch >= samples && from_all));
  return samples > 1 && !all;
}

bool never_folds(const TrainOptions& options) {
  return options.target_error || options.measure_gradients;
}

std::size_t resolved_in_flight(const TrainOptions& options, std::size_t bytes) {
  constexpr std::size_t budget = std::size_t{2} << 30, never_folded = 1'000'000;
  if (never_folds(options)) return never_folded;
  const std::size_t fit = budget / std::max<std::size_t>(1, options.workers * bytes);
  return options.in_flight.value_or(std::clamp<std::size_t>(fit, 8, 128));
}

void validate(const TrainOptions& o) {
  const auto refuse = [](const std::string& why) { throw InputError(why); };
  if (o.workers == 0) refuse("workers = 0: a run needs at least one worker");
  if (o.workers > 100'000) refuse(fmt::format("workers = {}: at most 100000", o.workers));
  if (o.workers > 4096 && o.look_ahead && !o.look_ahead->is_off())
    refuse("look_ahead: supports up to 4096 workers");
  if (!(o.eta > 0) || !(o.eta <= 1e9))
    refuse(fmt::format("lr = {}: the step size must be more than 0 and at most 1e9", o.eta));
  if (!o.gradients.empty() && o.gradients.size() != 1 && o.gradients.size() != o.workers)
    refuse(fmt::format("gradients has {} numbers for {} workers; give one, or one per worker",
                       o.gradients.size(), o.workers));
  if (o.total_gradients && *o.total_gradients == 0)
    refuse("total-gradients = 0: must be at least 1");
  if (o.epochs && !(*o.epochs > 0 && std::isfinite(*o.epochs)))
    refuse(fmt::format("epochs = {}: must be a positive number", *o.epochs));
  validate(o.rule);
  const Schedule& schedule = o.rule.schedule;
  const bool open_ended = o.gradients.empty() && !o.total_gradients && !o.epochs &&
                          (ends_without_budget(o) || o.make_samples);
  const bool ends =
      schedule.kind == Schedule::Kind::cosine || schedule.kind == Schedule::Kind::cooldown;
  if (ends && !schedule.total && open_ended)
    refuse(fmt::format("schedule {0} has no end without gradients or epochs; write {0}:TOTAL",
                       to_string(schedule)));
  if (o.max_time && o.max_time->count() <= 0) refuse("max-time must be more than 0");
  if (o.target_error && !(*o.target_error > 0))
    refuse(fmt::format("target-error = {}: must be a positive number", *o.target_error));
  if (o.target_loss && !std::isfinite(*o.target_loss)) refuse("target-loss must be a number");
  if (o.compute.count() < 0) refuse("compute must not be negative");
  if (o.in_flight && *o.in_flight == 0) refuse("in-flight = 0: a worker needs at least 1 buffer");
  const EvaluationOptions& e = o.evaluation;
  if (e.every.count() < 0) refuse("eval-every must not be negative");
  if (!(e.share > 0 && e.share <= 1)) refuse("the share of evaluation must be from 0 to 1");
  if (e.patience && *e.patience == 0) refuse("patience must be at least 1");
  if (e.target_accuracy && !(*e.target_accuracy > 0 && *e.target_accuracy <= 1))
    refuse("target-accuracy must be a number above 0 and at most 1");
  if (e.target_loss && !std::isfinite(*e.target_loss)) refuse("target-eval-loss must be a number");
  if ((e.patience || e.target_accuracy || e.target_loss) && e.every.count() == 0)
    refuse(
        "patience, target-accuracy and target-eval-loss need eval-every: nothing is evaluated "
        "without it");
  if (!o.time_factors.empty() && o.time_factors.size() != o.workers)
    refuse(fmt::format("time_factors has {} numbers for {} workers", o.time_factors.size(),
                       o.workers));
  for (const double factor : o.time_factors)
    if (!(factor > 0) || !std::isfinite(factor)) refuse("a time factor must be positive");
  for (const SlowWorker& slow : o.slow) {
    if (index(slow.worker) >= o.workers)
      refuse(fmt::format("slow: worker {} does not exist; there are {}, numbered from 0",
                         index(slow.worker), o.workers));
    if (std::ranges::count(o.slow, slow.worker, &SlowWorker::worker) > 1)
      refuse(fmt::format("slow: worker {} is given twice", index(slow.worker)));
    if (!(slow.factor >= 1) || !std::isfinite(slow.factor))
      refuse(fmt::format("slow: factor {} of worker {} must be 1 or more", slow.factor,
                         index(slow.worker)));
  }
}

}  // namespace dasgd
