#include "dasgd/runtime/train.hpp"

#include <chrono>
#include <memory>

#include "dasgd/core/error.hpp"
#include "dasgd/run/choose_links.hpp"
#include "dasgd/run/conclude.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/runtime/boards/snapshot_board.hpp"
#include "dasgd/runtime/checkpointer.hpp"
#include "dasgd/runtime/evaluator.hpp"
#include "dasgd/runtime/monitor.hpp"
#include "dasgd/runtime/run_threads.hpp"
#include "dasgd/runtime/worker_loop.hpp"
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
  CarrierFactory carrier;
  if (options.chaos.on_links())
    carrier = [&options, clock, graph](Arrival arrival) {
      return std::make_unique<faulty::FaultyLinks>(options.chaos, graph, options.seed, clock,
                                                   std::move(arrival));
    };
  in_process::Mesh mesh(
      std::move(graph),
      {.relay = relay,
       .in_flight = resolved_in_flight(options, objective.dimension() * sizeof(Number<Real>)),
       .clock = clock,
       .carrier = carrier});
  Control control([&] {
    mesh.deliver_held_back();  // a partition of an hour is no reason to drain for an hour
    for (std::size_t i = 0; i < options.workers; ++i) mesh.endpoint(worker_id(i)).wake();
  });
  TargetGate gate(options.workers, [&] { control.stop(StopReason::target); });
  GoodModel<Real> good;
  SharedBudget budget(options, objective.samples(), [&] { control.end_sleeps(); });
  SnapshotBoard snapshots(options.workers);

  std::vector<std::unique_ptr<WorkerLoop<Real>>> loops;
  for (std::size_t i = 0; i < options.workers; ++i)
    loops.push_back(std::make_unique<WorkerLoop<Real>>(
        worker_id(i), objective, options, mesh.endpoint(worker_id(i)),
        SharedByLoops<Real>{control, gate, budget, good,
                            options.checkpoint.save ? &snapshots : nullptr}));
  Evaluator<Real> evaluator(objective, options, start, loops.front()->models(), control);
  run_threads(loops, control, [&] {
    const Checkpointer checkpointer(options, objective.dimension(), objective.samples(), start,
                                    snapshots, [&] { return evaluator.since_best(); });
    Monitor<Real>(options, loops, control, callbacks, evaluator,
                  planned_gradients(options, objective.samples()))
        .watch();
  });

  evaluator.stop();
  std::vector<WorkerReport> reports;
  for (const auto& loop : loops) reports.push_back(loop->report());
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  auto result = conclude<Real>(objective, options, reports, loops.front()->worker(),
                               {.seconds = wall,
                                .reason = control.reason(),
                                .failure = control.failure(),
                                .good = good,
                                .judge = evaluator.judge()});
  if (!result.failure)
    save_last_checkpoint(options, objective, loops.front()->worker(), snapshots, wall,
                         evaluator.judge().since_best());
  return result;
}

template TrainResult<float> run_training(const Objective<float>&, const TrainOptions&,
                                         const std::vector<Callback<float>>&);
template TrainResult<double> run_training(const Objective<double>&, const TrainOptions&,
                                          const std::vector<Callback<double>>&);

}  // namespace dasgd
