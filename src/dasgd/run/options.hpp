// How a run is set up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "dasgd/core/look_ahead.hpp"
#include "dasgd/core/message_format.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/core/update_rule.hpp"
#include "dasgd/data/draws/batches.hpp"
#include "dasgd/record/assumption.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/record/evaluation.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/rules/rule.hpp"
#include "dasgd/run/figures.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/chaos.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd {

/// An emulated slow worker: each of its gradients takes `factor` times as long.
struct SlowWorker {
  WorkerId worker{};
  double factor = 1;
};

/// What to do when the loss diverges or an update is not finite.
enum class OnDivergence {
  stop,   ///< end the run; its result is the last good model
  halve,  ///< the worker that sees it halves the step size of its later gradients
};

/// Evaluation while a run goes, on a copy of worker 0's model; no worker waits for it.
struct EvaluationOptions {
  std::chrono::nanoseconds every{0};      ///< 0: never
  double share = 1;                       ///< at most this part of the time of one core
  std::optional<std::uint32_t> patience;  ///< stops after this many without a new best
  std::optional<double> target_accuracy;  ///< stops once a model reaches it
  std::optional<double> target_loss;      ///< stops once the loss of a model is at most this
  std::optional<Evaluation> best;         ///< known before the run, from an earlier leg
};

/// Snapshots of a run while it goes and at its end, for `TrainOptions::resume` of a later one.
struct CheckpointOptions {
  std::chrono::nanoseconds every{0};  ///< 0: only at the end
  /// Keeps one. Called on a thread of the run; what it throws becomes a warning.
  std::function<void(Checkpoint)> save;
};

/// Makes the update rule of one worker, for the numbers that the objective has.
template <typename Real>
using MakeRuleOf = std::function<std::unique_ptr<UpdateRule<Real>>(WorkerId)>;
using MakeRule = std::variant<std::monostate, MakeRuleOf<float>, MakeRuleOf<double>>;

/// This process is one of the members of a run that come and go, and has one worker.
struct ElasticMember {
  std::uint32_t sequence = 0;         ///< whose order of samples its worker takes
  std::function<bool()> may_compute;  ///< false: there is no sample now
};

/// What is in the model of a worker, reported before each of its steps. Any thread may read it.
struct Applied {
  std::atomic<std::uint64_t> gradients{0}, samples{0};
};

/// Everything has a default: `train(problem, {.workers = 8, .eta = 0.01})`. Without any budget or
/// target, a run makes one pass over the data, or 1,000 gradients per worker without mini-batches.
struct TrainOptions {
  std::size_t workers = 2;
  std::string topology = "full";  ///< see topology/builders.hpp
  std::optional<Graph> graph;     ///< an own one instead
  /// Default: none on the full graph, on arrival elsewhere. Mesh, tree and automatic choose the
  /// links themselves, so that `topology` is full.
  std::optional<RelayChoice> relay;
  double eta = 0.01;  ///< the step size
  RuleOptions rule;   ///< what the origin makes of a gradient; plain SGD
  /// Where workers compute: at their replicas (off), or ahead of them. See look_ahead_of.
  std::optional<LookAhead> look_ahead;
  MessageFormat message = MessageFormat::full;  ///< in how many bits updates are sent
  std::string links_why;  ///< why relay and message are what they are, where the run chose them
  MakeRule make_rule;     ///< an own rule instead, which also sets the step size
  std::optional<std::size_t> batch;  ///< samples per gradient; 0: all; default: 32, or all of 1

  Sampling sampling = Sampling::own;             ///< what workers draw from: all samples, or shards
  std::vector<std::uint32_t> gradients;          ///< per worker: one number for all, or one each
  std::optional<std::uint64_t> total_gradients;  ///< of all workers together
  std::optional<double> epochs;                  ///< passes over the data by all workers together
  std::optional<std::chrono::nanoseconds> max_time;
  /// Stops when every worker has reached it: the mean norm of the full gradient over the worker's
  /// last 30 models, evaluated after every single application.
  std::optional<double> target_error;
  /// Stops when every worker has reached it: the mean loss of the worker's last 30 own
  /// mini-batches.
  std::optional<double> target_loss;

  std::vector<SlowWorker> slow;
  /// Per worker, how many times as long as usual its gradients take; empty: 1 for all. Beside that
  /// `slow` makes some of them slower.
  std::vector<double> time_factors;
  Chaos chaos;                          ///< of a real run; a simulated world has its own
  std::chrono::nanoseconds compute{0};  ///< the least time that a gradient takes
  bool compute_adds = false;            ///< `compute` is added to the gradient's own time
  std::uint64_t seed = 1;
  /// How many buffers a worker has for its own gradients before those that wait for slow workers
  /// are folded; by default as many as fit into 2 GiB for all workers together, from 8 to 128. With
  /// `target_error` or `measure_gradients` nothing is folded.
  std::optional<std::size_t> in_flight;
  /// A worker's own source of samples instead of mini-batches of the objective's; `drawn` batches
  /// of it were drawn in earlier legs. Then the run ends when all sources have ended, or earlier by
  /// a budget, a target or a stop.
  std::function<std::unique_ptr<SampleSource>(WorkerId worker, std::uint64_t drawn)> make_samples;

  std::optional<ElasticMember> elastic;

  OnDivergence on_divergence = OnDivergence::stop;
  /// L of the objective. With it a run warns when eta crosses the certified limit, and its summary
  /// holds eta against the limits of the theory.
  std::optional<double> smoothness;
  /// The step size was proved under these: at its end the run is checked against them.
  std::vector<Assumption> assumptions;
  /// Evaluates the full gradient at every model, so that the summary can hold the measured sums
  /// against the theory's bounds. `target_error` implies it.
  bool measure_gradients = false;
  EvaluationOptions evaluation;
  CheckpointOptions checkpoint;
  /// Goes on from here: budgets and times count the whole run. Must outlive the run.
  const Checkpoint* resume = nullptr;

  std::stop_token stop;              ///< ends the run early: workers stop computing and drain
  std::stop_token asked;             ///< the same, as planned: stop_reason is `asked`
  Applied* applied = nullptr;        ///< by the only worker of this process
  TraceSink* trace = nullptr;        ///< records every application
  ApplicationSink* watch = nullptr;  ///< sees every application as well, on the workers' threads
  FigureLog* figures = nullptr;      ///< of a simulation: its figures over virtual time
  std::chrono::milliseconds report_every{200};  ///< between two calls of the callbacks
  std::chrono::milliseconds stall_after{10'000};
  /// One line for a person: a stall and whom it waits for.
  std::function<void(const std::string&)> warn;
};

/// The graph of a run. Throws InputError for a name that means none, or one of another size.
Graph graph_of(const TrainOptions& options);
/// When workers pass gradients on over the links of that graph.
RelayMode relay_of(const TrainOptions& options, const Graph& graph);

/// Only what makes a run what it is: its workers and their graph, how they sample and how fast they
/// are. No budget or target, nothing that is written or shown, plain SGD with this step size and
/// without look-ahead.
TrainOptions bare_run(const TrainOptions& options, double eta);

/// Whether a run without a budget ends by itself: by time, or by a target.
bool ends_without_budget(const TrainOptions& options);

/// How many times as long as usual the gradients of a worker take in virtual time.
double slow_factor(const TrainOptions& options, WorkerId worker);
/// The same for a real worker. No worker can be made faster than usual: where one would have to be,
/// all are slower by as much as the fastest should be faster.
double real_slow_factor(const TrainOptions& options, WorkerId worker);

/// Where the workers of a run compute, for an objective of `samples` samples. By default:
/// look-ahead where gradients carry noise; without noise, and where every model is measured, at the
/// replicas, as in the paper, so that its certificates hold. One worker alone misses nothing.
LookAhead look_ahead_of(const TrainOptions& options, std::size_t samples);

/// The batch size where none was given: the whole data set of a deterministic objective, else 32.
std::size_t resolved_batch(const TrainOptions& options, std::size_t samples);

/// Whether a gradient is of fewer samples than there are: an estimate of grad f, not grad f.
bool gradients_have_noise(const TrainOptions& options, std::size_t samples);

/// Whether nothing is folded: every gradient is applied by itself where each model is looked at.
bool never_folds(const TrainOptions& options);
/// How many buffers a worker has for its own gradients, where an update takes `bytes`; as many as
/// are needed where nothing is folded.
std::size_t resolved_in_flight(const TrainOptions& options, std::size_t bytes);

/// Throws InputError for options that cannot be: no workers, a step size that is not positive, ...
void validate(const TrainOptions& options);

}  // namespace dasgd
