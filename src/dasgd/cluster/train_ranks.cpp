#include "dasgd/cluster/train_ranks.hpp"

#include <exception>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <utility>

#include "dasgd/cluster/clocks.hpp"
#include "dasgd/cluster/messages.hpp"
#include "dasgd/cluster/rank_control.hpp"
#include "dasgd/cluster/remote_trace.hpp"
#include "dasgd/cluster/remote_watch.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/run/choose_links.hpp"
#include "dasgd/runtime/run_process.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd {
namespace {

using namespace cluster;

std::string text_of(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is not an exception was thrown";
  }
}

[[noreturn]] void end_job(mpi::Communicator& ranks, const RankOptions& options,
                          const std::string& why) {
  if (options.fatal) options.fatal(why);
  ranks.abort(1);
}

/// One rank's part of a run.
template <typename Real>
class RankRun {
 public:
  RankRun(mpi::Communicator& ranks, const Objective<Real>& objective, const TrainOptions& options,
          const RankOptions& rank_options)
      : ranks_(ranks),
        objective_(objective),
        options_(options),
        rank_options_(rank_options),
        clock_(ranks),
        control_([this] { on_stop(); }),
        budget_(options, objective.samples(), [this] { control_.end_sleeps(); }),
        gate_(per_rank(), [this] { rank_control_.target_reached(); }),
        good_([this](double size) { rank_control_.send_to_others(EarlyLoss{size}); }, is_first()),
        rank_control_({ranks.size(), per_rank()}, ranks.rank(), options, control_, outside()),
        mesh_(ranks.duplicate(), graph_of(options), mesh_options()) {}
  // The reader of notes uses the mesh, and the mesh hands notes to the reader.
  ~RankRun() {
    mesh_.close();
    rank_control_.take_reports();
  }
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  std::optional<TrainResult<Real>> run(const std::vector<Callback<Real>>& callbacks) {
    TrainOptions options = options_;
    const auto send_to_first = [this](const Message& m) { rank_control_.send_to_first(m); };
    RemoteTrace trace(mesh_.layout(), send_to_first, rank_control_.trace_window());
    RemoteWatch watch(mesh_.layout(), send_to_first);
    if (!is_first()) {
      options.trace = rank_options_.trace ? &trace : nullptr;
      options.watch = rank_options_.watch && !rank_options_.trace ? &watch : nullptr;
      options.warn = nullptr;  // rank 0 sees everything, and its worker 0 is evaluated
      options.evaluation.every = {};
      options.checkpoint.save = nullptr;
    }
    if (rank_options_.values)
      rank_options_.values->open([this](const std::optional<std::string>& value) {
        rank_control_.send_to_others(GivenValue{value});
      });
    if (is_first() && ranks_.size() > 1 && mesh_.options().device.make && rank_options_.note)
      rank_options_.note(way_of_updates());
    log(fmt::format("computes with {} of {} workers", per_rank(), options.workers));
    return run_process<Real>({
        .objective = objective_,
        .options = options,
        .first = index(mesh_.layout().worker(ranks_.rank(), 0)),
        .workers = per_rank(),
        .endpoint = [this](WorkerId worker) -> Endpoint& { return mesh_.endpoint(worker); },
        .shared = {control_, gate_, budget_, good_,
                   rank_options_.checkpoints ? &rank_control_.board() : nullptr, between_steps()},
        .snapshots = rank_control_.board(),
        .start = Checkpointer::Clock::now() - std::chrono::nanoseconds(clock_.now()),
        .callbacks = is_first() ? callbacks : none_,
        .end =
            [&](std::vector<WorkerReport>& reports, RunEnd<Real>& end) {
              if (control_.abandoned()) end_job("cannot go on: " + text_of(control_.failure()));
              if (!is_first() && options.trace) trace.flush();
              if (!is_first() && options.watch) watch.flush();
              if (chooses_message()) {
                options.message = mesh_.chosen_format();
                if (!options.links_why.empty()) options.links_why += "; ";
                options.links_why += reason_of_message(mesh_.chosen_when_waited());
              }
              return complete(reports, end);
            },
        .remote_workers = &rank_control_,
    });
  }

 private:
  bool chooses_message() const { return options_.message == MessageFormat::automatic; }

  // Whose samples have ended cannot give values any more: the run ends before its caller can.
  auto between_steps() const -> decltype(SharedByLoops<Real>::between_steps) {
    if (!rank_options_.values && !chooses_message()) return {};
    return [this](RunWorker<Real>& run, const auto&) {
      if (rank_options_.values && run.samples().ended()) rank_options_.values->give({});
      if (chooses_message()) run.worker().send_in(mesh_.chosen_format());
    };
  }

  std::size_t update_bytes() const { return objective_.dimension() * sizeof(Number<Real>); }

  mpi::RankMeshOptions mesh_options() {
    return {.relay = relay_of(options_, graph_of(options_)),
            .in_flight = resolved_in_flight(options_, update_bytes()),
            .clock = [this] { return clock_.now(); },
            .folds = !options_.target_error && !options_.measure_gradients,
            .message = options_.message,
            .share_memory = rank_options_.share_memory,
            .update_bytes = update_bytes(),
            .largest_shift = FixedPoint<Real>::largest_shift,
            .device = device(),
            .workers_per_rank = per_rank(),
            .polling = rank_options_.polling,
            .silence = rank_options_.silence,
            .on_gradient = [this](const GradientFacts& g) { budget_.hear(g.samples); },
            .on_note = [this](int from, Bytes note) { rank_control_.hear(from, std::move(note)); },
            .on_failure = [this](const std::string& why) { end_job(why); }};
  }

  DeviceBuffers device() const {
    const mpi::RankLayout layout{ranks_.size(), per_rank()};
    std::vector<WorkerId> workers;
    for (std::size_t i = 0; i < per_rank(); ++i) workers.push_back(layout.worker(ranks_.rank(), i));
    return objective_.device_of(workers);
  }

  std::string way_of_updates() const {
    const auto others = static_cast<std::size_t>(ranks_.size() - 1),
               reached = mesh_.ranks_by_device();
    const std::string library = mpi::Session::library();
    if (reached == 0)
      return fmt::format("updates go to other ranks by way of this machine's memory{}",
                         *mesh_.options().cuda_aware ? "" : ": " + library + " is not CUDA-aware");
    return fmt::format("updates go {}from GPU to GPU: {} is CUDA-aware",
                       reached < others ? fmt::format("to {} of {} other ranks ", reached, others)
                                        : "to other ranks ",
                       library);
  }

  RankControl::Outside outside() {
    return {.send = [this](int rank, Bytes note) { mesh_.send_note(rank, std::move(note)); },
            .early_loss = [this](double size) { good_.hear_early_loss(size); },
            .failed = [this](const std::string& why) { end_job(why); },
            .value =
                [this](int from, std::optional<std::string> value) {
                  if (rank_options_.values)
                    rank_options_.values->hear(static_cast<std::size_t>(from), std::move(value));
                },
            .log = rank_options_.log};
  }

  bool is_first() const { return ranks_.rank() == 0; }
  std::size_t per_rank() const {
    return options_.workers / static_cast<std::size_t>(ranks_.size());
  }
  void log(const std::string& line) {
    if (rank_options_.log) rank_options_.log(line);
  }

  [[noreturn]] void end_job(const std::string& why) { dasgd::end_job(ranks_, rank_options_, why); }

  // On the thread that asks for the stop.
  void on_stop() {
    for (std::size_t i = 0; i < mesh_.layout().per_rank; ++i)
      mesh_.endpoint(mesh_.layout().worker(ranks_.rank(), i)).wake();
    rank_control_.stopped();
  }

  // With what other ranks did, on the first.
  bool complete(std::vector<WorkerReport>& workers, RunEnd<Real>& end) {
    std::uint64_t computed = 0;
    for (const WorkerReport& worker : workers) computed += worker.computed;
    log(fmt::format("is done, {} gradients computed", computed));
    RankReport own{.workers = std::exchange(workers, {}), .stop_reason = end.reason};
    if (end.failure) own.failure = text_of(end.failure);
    if (!is_first()) rank_control_.send_to_first(own);
    if (rank_options_.values) rank_options_.values->close();
    mesh_.close();  // the paper's single final synchronisation: now everything has arrived
    end.clocks = clock_.review(ranks_);
    if (!is_first()) return false;

    auto reports = rank_control_.take_reports();
    reports[0] = std::move(own);
    for (auto& [rank, rank_report] : reports) {
      if (!end.failure && rank_report.failure)
        end.failure = std::make_exception_ptr(std::runtime_error(*rank_report.failure));
      for (WorkerReport& worker : rank_report.workers) {
        end.labels.push_back(fmt::format("worker {} of rank {}", workers.size(), rank));
        workers.push_back(std::move(worker));
      }
    }
    if (workers.size() != options_.workers)
      throw std::runtime_error("a rank ended without reporting its results");
    end.seconds = static_cast<double>(clock_.now()) * 1e-9;
    end.reason = control_.reason();
    return true;
  }

  mpi::Communicator& ranks_;
  const Objective<Real>& objective_;
  const TrainOptions& options_;
  const RankOptions& rank_options_;
  const std::vector<Callback<Real>> none_;
  const CommonClock clock_;
  Control control_;
  SharedBudget budget_;
  TargetGate gate_;
  GoodModel<Real> good_;
  RankControl rank_control_;
  mpi::RankMesh mesh_;  // last: its thread uses all of the above
};

// How fast the links of ranks are shows when they are used: a message that is open stays so.
TrainOptions with_links(TrainOptions options, mpi::Communicator& ranks, bool share_memory) {
  const bool is_open = options.relay && options.relay->kind == RelayChoice::Kind::automatic;
  if (ranks.ranks_on_host() == ranks.size() && share_memory)
    return choose_links(std::move(options), {.kind = "ranks of one machine share memory"});
  if (!is_open) return options;
  const bool many = static_cast<std::size_t>(ranks.size()) > most_in_mesh;
  options.relay = many ? RelayChoice::tree() : RelayChoice::mesh();
  options.links_why = fmt::format("{} ranks {}", ranks.size(),
                                  share_memory ? "on several machines" : "that share no memory");
  return options;
}

}  // namespace

template <typename Real>
std::optional<TrainResult<Real>> train_ranks(mpi::Communicator& ranks,
                                             const Objective<Real>& objective,
                                             const TrainOptions& given,
                                             const RankOptions& rank_options,
                                             const std::vector<Callback<Real>>& callbacks) {
  const TrainOptions options = with_links(given, ranks, rank_options.share_memory);
  require_runnable(options, objective);
  require_trace_of_all(options);
  if (options.workers % static_cast<std::size_t>(ranks.size()) != 0)
    throw InputError(fmt::format("{} workers cannot be shared evenly by {} ranks", options.workers,
                                 ranks.size()));
  if (options.chaos.on_links())
    throw InputError("chaos on links needs threads or the simulator, not MPI ranks");
  std::optional<RankRun<Real>> run;  // its end waits for the others
  try {
    run.emplace(ranks, objective, options, rank_options);
    return run->run(callbacks);
  } catch (const std::exception& error) {  // the others would wait for this rank
    end_job(ranks, rank_options, error.what());
  }
}

template std::optional<TrainResult<float>> train_ranks(mpi::Communicator&, const Objective<float>&,
                                                       const TrainOptions&, const RankOptions&,
                                                       const std::vector<Callback<float>>&);
template std::optional<TrainResult<double>> train_ranks(mpi::Communicator&,
                                                        const Objective<double>&,
                                                        const TrainOptions&, const RankOptions&,
                                                        const std::vector<Callback<double>>&);

}  // namespace dasgd
