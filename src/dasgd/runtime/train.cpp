#include "dasgd/runtime/train.hpp"

#include <chrono>
#include <memory>

#include "dasgd/core/error.hpp"
#include "dasgd/runtime/monitor.hpp"
#include "dasgd/runtime/run_threads.hpp"
#include "dasgd/runtime/worker_loop.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/in_process/network.hpp"

namespace dasgd {

using Clock = std::chrono::steady_clock;

template <typename Real>
TrainResult<Real> run_training(const Objective<Real>& objective, const TrainOptions& options,
                               const std::vector<Callback<Real>>& callbacks) {
  validate(options);
  if (objective.start().size() != objective.dimension())
    throw InputError("the objective starts at a point of another dimension than its own");
  if (options.trace && options.trace->sources() != options.workers)
    throw InputError("the trace writer was made for another number of workers");
  Graph graph = build_graph(options.topology, options.workers, options.seed);
  const RelayMode relay = options.relay.value_or(default_relay(graph));
  const std::size_t batch = resolved_batch(options, objective.samples());
  const auto start = Clock::now();
  in_process::Network network(
      std::move(graph),
      {.relay = relay,
       .in_flight = resolved_in_flight(options, objective.dimension() * sizeof(Number<Real>)),
       .clock = [start] { return std::chrono::nanoseconds(Clock::now() - start).count(); }});
  Control control([&] {
    for (std::size_t i = 0; i < options.workers; ++i) network.endpoint(worker_id(i)).wake();
  });
  TargetGate gate(options.workers, [&] { control.stop("target"); });

  std::vector<std::unique_ptr<WorkerLoop<Real>>> loops;
  for (std::size_t i = 0; i < options.workers; ++i)
    loops.push_back(std::make_unique<WorkerLoop<Real>>(
        worker_id(i), objective, options, batch, network.endpoint(worker_id(i)), control, gate));
  run_threads(loops, control, [&] { Monitor<Real>(options, loops, control, callbacks).watch(); });

  std::vector<WorkerAccount<Real>> accounts;
  for (const auto& loop : loops) accounts.push_back(loop->account());
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  auto result = conclude<Real>(objective, options, accounts, wall);
  if (control.failure()) result.failure = control.failure();
  if (!control.reason().empty()) result.summary.stop_reason = control.reason();
  return result;
}

template TrainResult<float> run_training(const Objective<float>&, const TrainOptions&,
                                         const std::vector<Callback<float>>&);
template TrainResult<double> run_training(const Objective<double>&, const TrainOptions&,
                                          const std::vector<Callback<double>>&);

}  // namespace dasgd
