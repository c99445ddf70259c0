#include "dasgd/runtime/train.hpp"

#include <chrono>
#include <memory>

#include "dasgd/core/error.hpp"
#include "dasgd/run/choose_links.hpp"
#include "dasgd/runtime/run_process.hpp"
#include "dasgd/transport/faulty/faulty_links.hpp"
#include "dasgd/transport/in_process/mesh.hpp"

namespace dasgd {

using Clock = std::chrono::steady_clock;

template <typename Real>
TrainResult<Real> run_training(const Objective<Real>& objective, const TrainOptions& given,
                               const std::vector<Callback<Real>>& callbacks) {
  require_runnable(given, objective);
  const TrainOptions options = choose_links(given, {.kind = "threads share memory"});
  require_trace_of_all(options);
  Graph graph = graph_of(options);
  const RelayMode relay = relay_of(options, graph);
  validate(options.chaos, graph);
  const auto start = Clock::now();
  const auto clock = [start] { return std::chrono::nanoseconds(Clock::now() - start).count(); };
  in_process::Mesh* network = nullptr;
  Control control([&] {
    if (!network) return;
    network->deliver_held_back();  // do not drain for an hour because of a partition of an hour
    for (std::size_t i = 0; i < options.workers; ++i) network->endpoint(worker_id(i)).wake();
  });
  CarrierFactory carrier;
  if (options.chaos.on_links())
    carrier = [&, graph](Arrival arrival) {
      return std::make_unique<faulty::FaultyLinks>(
          options.chaos, graph, options.seed, clock, std::move(arrival),
          [&](std::exception_ptr failure) { control.abandon(failure); });
    };
  in_process::Mesh mesh(
      std::move(graph),
      {.relay = relay,
       .in_flight = resolved_in_flight(options, objective.dimension() * sizeof(Number<Real>)),
       .clock = clock,
       .carrier = carrier});
  network = &mesh;
  TargetGate gate(options.workers, [&] { control.stop(StopReason::target); });
  GoodModel<Real> good;
  SharedBudget budget(options, objective.samples(), [&] { control.end_sleeps(); });
  SnapshotBoard snapshots(options.workers);

  return *run_process<Real>({
      .objective = objective,
      .options = options,
      .first = 0,
      .workers = options.workers,
      .endpoint = [&](WorkerId worker) -> Endpoint& { return mesh.endpoint(worker); },
      .shared = {control, gate, budget, good, options.checkpoint.save ? &snapshots : nullptr},
      .snapshots = snapshots,
      .start = start,
      .callbacks = callbacks,
  });
}

template TrainResult<float> run_training(const Objective<float>&, const TrainOptions&,
                                         const std::vector<Callback<float>>&);
template TrainResult<double> run_training(const Objective<double>&, const TrainOptions&,
                                          const std::vector<Callback<double>>&);

}  // namespace dasgd
