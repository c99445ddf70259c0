#include "dasgd/runtime/train.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <xxhash.h>

#include "dasgd/core/error.hpp"
#include "dasgd/runtime/monitor.hpp"
#include "dasgd/runtime/worker_loop.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/in_process/network.hpp"

namespace dasgd {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Real>
std::string digest(const Replica<Real>& replica) {
  const auto bytes = std::as_bytes(replica.sums());
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("xxh3-128:{:016x}{:016x}", hash.high64, hash.low64);
}

std::size_t default_in_flight(std::size_t workers, std::size_t bytes_each) {
  constexpr std::size_t budget = std::size_t{2} << 30;
  return std::clamp<std::size_t>(budget / std::max<std::size_t>(1, workers * bytes_each), 4, 128);
}

double slow_factor(const TrainOptions& options, WorkerId worker) {
  double factor = 1;
  for (const SlowWorker& slow : options.slow)
    if (slow.worker == worker) factor = slow.factor;
  return factor;
}

template <typename Real>
void audit(const std::vector<std::unique_ptr<WorkerLoop<Real>>>& loops, RunSummary& summary) {
  for (const auto& loop : loops) {
    summary.gradients += loop->worker().computed();
    summary.gradients_by_worker.push_back(loop->worker().computed());
    summary.samples += loop->samples();
    summary.duplicated += loop->worker().duplicated();
    summary.copies_dropped += loop->endpoint().copies_dropped();
    summary.noncausal_applications += loop->ledger().noncausal_applications();
    summary.staleness.add_worker(loop->ledger().S(), loop->ledger().S_hat(), loop->ledger().W());
    const auto& reached = loop->target().reached();
    summary.iterations.push_back(reached ? reached->t : loop->worker().t());
    summary.time.push_back(reached ? reached->time : loop->last_time());
  }
  const Worker<Real>& first = loops.front()->worker();
  summary.replica_digest = digest(first.replica());
  summary.replicas_identical = true;
  for (const auto& loop : loops) {
    summary.lost += summary.gradients - loop->worker().t();
    const bool same_set = loop->worker().applied() == first.applied();
    const bool same_bits = digest(loop->worker().replica()) == summary.replica_digest;
    summary.replicas_identical = summary.replicas_identical && same_set && same_bits;
  }
}

// A model that left its range after the last gradient was computed has not been noticed yet.
template <typename Real>
std::exception_ptr late_divergence(const Worker<Real>& worker, double eta) {
  const auto at = worker.replica().diverged_at();
  if (!at) return nullptr;
  const double value = static_cast<double>(worker.replica().sums()[*at]) *
                       std::ldexp(1.0, FixedPoint<Real>::unit_exponent);
  const GradientName last{worker.id(), std::max(1u, worker.computed()) - 1};
  return std::make_exception_ptr(DivergenceError(worker.id(), last, *at, value, eta));
}

}  // namespace

template <typename Real>
TrainResult<Real> run_training(const Objective<Real>& objective, const TrainOptions& options,
                               const std::vector<Callback<Real>>& callbacks) {
  validate(options);
  Graph graph = build_graph(options.topology, options.workers, options.seed);
  const RelayMode relay = options.relay.value_or(default_relay(graph));
  const std::size_t batch = options.batch.value_or(objective.samples() > 1 ? 32 : 0);
  const auto start = Clock::now();
  in_process::Network network(
      std::move(graph),
      {.relay = relay,
       .in_flight = options.in_flight.value_or(
           default_in_flight(options.workers, objective.dimension() * sizeof(Number<Real>))),
       .clock = [start] { return std::chrono::nanoseconds(Clock::now() - start).count(); }});
  Control control([&] {
    for (std::size_t i = 0; i < options.workers; ++i) network.endpoint(worker_id(i)).wake();
  });
  TargetGate gate(options.workers, control);

  std::vector<std::unique_ptr<WorkerLoop<Real>>> loops;
  for (std::size_t i = 0; i < options.workers; ++i)
    loops.push_back(std::make_unique<WorkerLoop<Real>>(
        worker_id(i), objective, options, batch, slow_factor(options, worker_id(i)),
        network.endpoint(worker_id(i)), control, gate));
  {
    std::vector<std::jthread> threads;
    for (const auto& loop : loops) threads.emplace_back([&loop] { loop->run(); });
    try {
      Monitor<Real>(options, loops, control, callbacks).watch();
    } catch (...) {
      control.fail(std::current_exception(), "failed");  // a callback threw: drain, then tell
    }
  }

  TrainResult<Real> result;
  result.summary.workers = options.workers;
  result.summary.seed = options.seed;
  result.summary.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  audit(loops, result.summary);
  result.summary.samples_per_second =
      static_cast<double>(result.summary.samples) / result.summary.wall_seconds;
  result.failure = control.failure();
  if (!result.failure) result.failure = late_divergence(loops.front()->worker(), options.eta);
  result.summary.stop_reason = control.reason().empty() ? "budget" : control.reason();
  result.model.resize(objective.dimension());
  to_real<Real>(loops.front()->worker().replica().sums(), result.model);
  result.summary.loss = objective.loss(result.model);
  result.summary.accuracy = objective.accuracy(result.model);
  return result;
}

template TrainResult<float> run_training(const Objective<float>&, const TrainOptions&,
                                         const std::vector<Callback<float>>&);
template TrainResult<double> run_training(const Objective<double>&, const TrainOptions&,
                                          const std::vector<Callback<double>>&);

}  // namespace dasgd
