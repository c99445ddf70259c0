#include "dasgd/run/leg.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/run/budget.hpp"

namespace dasgd {
template <typename Real>
void require_runnable(const TrainOptions& options, const Objective<Real>& objective) {
  validate(options);
  if (objective.start().size() != objective.dimension())
    throw InputError("the start of the objective does not have its dimension");
  if (options.sampling.kind == Sampling::dirichlet &&
      resolved_batch(options, objective.samples()) &&
      needed_labels(options, objective).size() != objective.samples())
    throw InputError("`sampling` dirichlet needs labels; these samples have none");
  if (!options.resume) return;
  const Checkpoint& from = *options.resume;
  if (from.dimension != objective.dimension() ||
      from.sums.size() != from.dimension * sizeof(Sum<Real>))
    throw InputError(fmt::format(
        "the checkpoint holds a model of {} numbers with sums of {} bytes; this one has {} and {}",
        from.dimension, from.dimension == 0 ? 0 : from.sums.size() / from.dimension,
        objective.dimension(), sizeof(Sum<Real>)));
  if (from.workers.empty()) throw InputError("the checkpoint has no workers");
}

std::vector<WorkerStart> worker_starts(const TrainOptions& options, std::size_t samples) {
  std::vector<WorkerStart> starts(options.workers);
  if (!options.resume) return starts;
  const Checkpoint& from = *options.resume;
  if (from.workers.size() == options.workers && from.sampling.kind == options.sampling.kind) {
    std::transform(from.workers.begin(), from.workers.end(), starts.begin(),
                   [](const WorkerState& w) {
                     return WorkerStart{w.data, w.computed};
                   });
    return starts;
  }
  std::vector<DataPosition> positions;
  if (!options.sampling.deals() && from.sampling.kind == options.sampling.kind) {
    for (std::size_t i = 0; i < options.workers; ++i) positions.push_back(from.position_of(i));
  } else {
    const std::size_t batch = resolved_batch(options, samples);
    std::vector<BatchShape> shapes;
    for (std::size_t i = 0; i < options.workers; ++i)
      shapes.push_back(
          batch_shape(options.sampling, worker_id(i), options.workers, samples, batch));
    positions = redistribute(from.samples, shapes);
  }
  for (std::size_t i = 0; i < options.workers; ++i)
    starts[i] = {positions[i],
                 from.gradients / options.workers + (i < from.gradients % options.workers ? 1 : 0)};
  return starts;
}

template <typename Real>
void restore(const TrainOptions& options, Replica<Real>& replica) {
  if (!options.resume) return;
  std::vector<Sum<Real>> sums(replica.dimension());
  std::memcpy(sums.data(), options.resume->sums.data(), options.resume->sums.size());
  replica.restore(sums);
}

template <typename Real>
std::unique_ptr<UpdateRule<Real>> make_rule(const TrainOptions& options, WorkerId worker,
                                            std::size_t samples) {
  if (const auto* make = std::get_if<MakeRuleOf<Real>>(&options.make_rule)) return (*make)(worker);
  if (!std::holds_alternative<std::monostate>(options.make_rule))
    throw InputError("the rule and the objective use different number types (float, double)");
  RuleClock clock{.planned = planned_gradients(options, samples)};
  if (options.resume) clock.before = options.resume->gradients;
  return std::make_unique<StagedRule<Real>>(options.rule, options.eta, clock);
}

namespace {

// Whose workers are fewer than before takes over what the others had still to send.
template <typename Real>
void restore_residuals(const TrainOptions& options, Worker<Real>& worker) {
  const auto& before = options.resume->workers;
  std::vector<Sum<Real>> sums(worker.replica().dimension());
  for (std::size_t i = index(worker.id()); i < before.size(); i += options.workers) {
    const Bytes& residual = before[i].carry_over.residual;
    if (residual.size() != sums.size() * sizeof(Sum<Real>)) continue;
    std::memcpy(sums.data(), residual.data(), residual.size());
    worker.add_residual(sums);
  }
}

}  // namespace

template <typename Real>
void restore(const TrainOptions& options, UpdateRule<Real>& rule, Worker<Real>& worker) {
  if (!options.resume) return;
  const Checkpoint& from = *options.resume;
  restore(options, worker.replica());
  const std::size_t i = index(worker.id());
  rule.restore(from.workers[i % from.workers.size()].carry_over.rule);
  restore_residuals(options, worker);
  std::vector<Bytes> objectives;
  for (const WorkerState& before : from.workers) objectives.push_back(before.carry_over.objective);
  if (from.workers.size() == options.workers) objectives = {std::move(objectives[i])};
  worker.oracle().restore(objectives);
}

Checkpoint checkpoint_of(const TrainOptions& options, std::size_t dimension, std::size_t samples,
                         LegSnapshot snapshot) {
  const Checkpoint* const from = options.resume;
  const std::uint64_t computed = snapshot.applied.size();
  const auto starts = worker_starts(options, samples);
  Checkpoint result;
  if (from) {
    result.legs = from->legs;
    result.seconds = from->seconds;
    result.gradients = from->gradients;
    result.applications = from->applications;
    result.samples = from->samples;
  }
  result.sampling = options.sampling;
  for (std::size_t i = 0; i < options.workers; ++i) {
    const DataPosition& start = starts[i].data;
    const DataPosition now = start.after(snapshot.applied, worker_id(i));
    const std::uint64_t own = starts[i].computed + now.done() - start.done();
    CarryOver& carry_over = snapshot.carry_overs[i];
    if (carry_over.empty() && from && from->workers.size() == options.workers)
      carry_over = from->workers[i].carry_over;  // what it began this leg with
    result.workers.push_back({now, own, std::move(carry_over)});
  }
  if (from && from->sampling.kind == options.sampling.kind && !options.sampling.deals())
    for (std::size_t i = options.workers; i < from->positions(); ++i)
      result.absent.push_back(from->position_of(i));
  result.dimension = dimension;
  result.sums = std::move(snapshot.sums);
  result.legs.push_back(std::move(snapshot.applied));
  result.seconds += snapshot.seconds;
  result.evaluations_since_best = snapshot.evaluations_since_best;
  result.gradients += computed;
  result.applications += computed * options.workers;
  result.samples += snapshot.samples;
  return result;
}

template void require_runnable(const TrainOptions&, const Objective<float>&);
template void require_runnable(const TrainOptions&, const Objective<double>&);
template void restore(const TrainOptions&, Replica<float>&);
template void restore(const TrainOptions&, Replica<double>&);
template std::unique_ptr<UpdateRule<float>> make_rule(const TrainOptions&, WorkerId, std::size_t);
template std::unique_ptr<UpdateRule<double>> make_rule(const TrainOptions&, WorkerId, std::size_t);
template void restore(const TrainOptions&, UpdateRule<float>&, Worker<float>&);
template void restore(const TrainOptions&, UpdateRule<double>&, Worker<double>&);

}  // namespace dasgd
