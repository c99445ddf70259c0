#include "dasgd/run/budget.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dasgd/data/draws/batches.hpp"
#include "dasgd/run/leg.hpp"

namespace dasgd {
namespace {

bool has_budget(const TrainOptions& o) {
  return !o.gradients.empty() || o.total_gradients || o.epochs;
}

// Without mini-batches a pass is one gradient, so a number of gradients is the budget instead.
bool counts_passes(const TrainOptions& options, std::size_t samples) {
  return resolved_batch(options, samples) > 0;
}

// Of all workers together; the last batch of a pass may be smaller than the others.
double batches_of_a_pass(const TrainOptions& options, std::size_t samples) {
  const std::size_t batch = resolved_batch(options, samples);
  const auto per_pass = [&](std::size_t worker) {
    const auto shape =
        batch_shape(options.sampling, worker_id(worker), options.workers, samples, batch);
    return static_cast<double>(shape.per_pass());
  };
  if (!options.sampling.deals() || batch == 0) return per_pass(0);
  double sum = 0;
  for (std::size_t i = 0; i < options.workers; ++i) sum += per_pass(i);
  return sum;
}

}  // namespace

Budget shared_budget(const TrainOptions& options, std::size_t samples) {
  std::optional<double> epochs = options.epochs;
  const bool open = !has_budget(options) && !ends_without_budget(options) && !options.make_samples;
  if (open && counts_passes(options, samples)) epochs = 1;
  Budget budget{options.total_gradients, std::nullopt};
  if (!epochs) return budget;
  const double all = std::ceil(*epochs * static_cast<double>(samples));
  if (all < 0x1p64) budget.samples = static_cast<std::uint64_t>(all);  // else it is never used up
  return budget;
}

std::uint32_t gradient_limit(const TrainOptions& options, WorkerId worker, std::size_t samples) {
  const bool open = !has_budget(options) && !ends_without_budget(options) && !options.make_samples;
  if (open && !counts_passes(options, samples)) return 1000;
  if (options.gradients.empty()) return unlimited;
  return options.gradients.size() == 1 ? options.gradients[0] : options.gradients[index(worker)];
}

std::optional<double> planned_gradients(const TrainOptions& options, std::size_t samples) {
  std::optional<double> planned;
  const auto at_most = [&](double gradients) {
    planned = std::min(planned.value_or(gradients), gradients);
  };
  double own = 0;
  for (std::size_t i = 0; i < options.workers; ++i)
    own += gradient_limit(options, worker_id(i), samples);
  if (own < unlimited) at_most(own);
  const Budget budget = shared_budget(options, samples);
  if (budget.gradients) at_most(static_cast<double>(*budget.gradients));
  if (budget.samples && samples > 0) {
    const auto budgeted = static_cast<double>(*budget.samples);
    const std::size_t batch = resolved_batch(options, samples);
    if (options.sampling == Sampling::independent && batch > 0)  // no pass, so no short batch
      at_most(std::ceil(budgeted / static_cast<double>(batch)));
    else
      at_most(budgeted / static_cast<double>(samples) * batches_of_a_pass(options, samples));
  }
  return planned;
}

SharedBudget::SharedBudget(const TrainOptions& options, std::size_t samples,
                           std::function<void()> on_used_up)
    : budget_(shared_budget(options, samples)),
      on_used_up_(std::move(on_used_up)),
      gradients_(options.resume ? options.resume->gradients : 0),
      samples_(options.resume ? options.resume->samples : 0),
      used_up_(!budget_.has_room(gradients_, samples_)) {}

bool SharedBudget::claim(std::size_t samples) { return count(samples); }

void SharedBudget::hear(std::size_t samples) { count(samples); }

bool SharedBudget::count(std::size_t samples) {
  const std::uint64_t gradients_before = gradients_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t samples_before = samples_.fetch_add(samples, std::memory_order_relaxed);
  const bool more = budget_.has_room(gradients_before + 1, samples_before + samples);
  if (!more && !used_up_.exchange(true) && on_used_up_) on_used_up_();
  return budget_.has_room(gradients_before, samples_before);
}

BudgetedSamples make_samples(const TrainOptions& options, WorkerId worker, std::size_t samples,
                             SharedBudget& shared, const std::atomic<bool>& stopped,
                             std::vector<std::uint32_t> labels) {
  WorkerStart start;
  if (options.resume) start = worker_starts(options, samples)[index(worker)];
  std::unique_ptr<SampleSource> source;
  if (options.make_samples) {
    source = options.make_samples(worker, start.data.done());
  } else {
    auto batches = std::make_unique<Batches>(
        Batches::Options{options.seed, options.sampling, options.workers, samples,
                         resolved_batch(options, samples), std::move(labels)},
        options.elastic ? WorkerId{options.elastic->sequence} : worker);
    batches->seek(start.data.next, start.data.ahead);
    source = std::move(batches);
  }
  return {std::move(source), gradient_limit(options, worker, samples),
          start.computed,    shared,
          stopped,           options.elastic ? options.elastic->may_compute : nullptr};
}

}  // namespace dasgd
