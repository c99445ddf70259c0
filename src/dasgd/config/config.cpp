#include "dasgd/config/config.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/models/data_source.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd::config {
namespace {

struct ModelDefaults {
  const char* data;
  double lr;
  std::size_t batch;  // 0: the whole data set, so that gradients carry no noise, as in the paper
  std::optional<double> epochs;
  std::vector<std::uint32_t> gradients;
  std::size_t workers = 2;
};

ModelDefaults defaults_of(const std::string& model) {
  if (model == "softmax") return {"fashion-mnist", 0.05, 64, 5, {}};
  if (model == "cnn" || model == "mlp") return {"fashion-mnist", 0.05, 32, 2, {}};
  if (model == "resnet18") return {"cifar10", 0.05, 32, 2, {}};
  if (is_network(model)) return {"", 0.05, 32, 2, {}};
  // Its gradients take microseconds: on a busy machine two workers are a thousand apart.
  if (model == "linear") return {"", 0.05, 32, 5, {}, 1};
  if (model == "logistic") return {"", 0.1, 0, std::nullopt, {1000}};
  return {"", 0.01, 0, std::nullopt, {1000}};
}

// Data sets of images are passed over a few times. A pass over a small table takes no time and
// teaches little.
std::optional<double> epochs_of(const ModelDefaults& defaults, const ProblemChoice& problem) {
  constexpr double enough_bytes = 5e7;
  std::error_code none;
  if (!defaults.epochs || !std::filesystem::is_regular_file(problem.data, none) ||
      kind_of_data(problem.data) != DataKind::csv)
    return defaults.epochs;
  const double most = is_network(problem.model) ? 5 : 100;
  const auto bytes = static_cast<double>(std::filesystem::file_size(problem.data, none));
  return std::clamp(std::round(enough_bytes / bytes), *defaults.epochs, most);
}

void require_no_stream_settings(const ProblemChoice& problem) {
  const auto refuse = [](const char* key) {
    throw InputError(std::string("`") + key + "` is for `data` - and `data` follow:FILE");
  };
  if (problem.format) refuse("format");
  if (problem.features) refuse("features");
  if (problem.classes) refuse("classes");
}

// The config of a run that had arrays says so, but cannot bring them back.
void require_arrays(const ProblemChoice& problem) {
  const std::pair<const char*, const std::string&> names[] = {
      {"data", problem.data},
      {"validation", problem.reading.validation},
      {"test", problem.reading.test}};
  for (const auto& [key, name] : names)
    if (name.starts_with(named_as_arrays) && !problem.arrays.contains(name))
      throw InputError(std::string("the run was trained on arrays that only its Python program ") +
                       "had: give them again there, " + key + "=(X, y)");
}

void resolve_stream(Config& config) {
  const ProblemChoice& problem = config.problem;
  if (!is_stream(problem.data)) return require_no_stream_settings(problem);
  const auto refuse = [&](const std::string& why) {
    throw InputError("`data` " + problem.data + ": " + why);
  };
  const DataChoice& reading = problem.reading;
  if (!reading.validation.empty() || !reading.test.empty() || !reading.label.empty() ||
      !reading.exclude.empty() || reading.scale ||
      reading.missing.value_or(Missing::error) != Missing::error || reading.resize ||
      !reading.class_weights.empty())
    refuse(
        "`validation`, `test`, `label`, `exclude`, `scale`, `missing`, `resize` and "
        "`class_weights` need a finite data set, not a stream");
  const bool logistic = problem.model == "logistic", network = is_network(problem.model);
  if (!logistic && !network && problem.model != "softmax")
    refuse("`model` " + problem.model +
           " needs a finite data set; streams are for logistic, softmax and networks");
  if (network && problem.device.value_or(NetworkDevice::cpu) != NetworkDevice::cpu)
    refuse("`device` cuda needs a finite data set; streams are learned on the CPU");
  if (network && is_for_numbers(problem.loss.value_or(NetworkLoss::cross_entropy)))
    refuse("`loss` " + to_string(*problem.loss) +
           " needs a finite data set; the labels of a stream are classes");
  if (problem.augment) refuse("`augment` needs images; a stream has rows");
  if (config.ranks.expected > 0 && problem.data == "-")
    refuse(
        "standard input reaches one rank only; append the rows to a file that all ranks see and "
        "use follow:FILE");
  if (config.run.epochs)
    refuse(
        "`budget.epochs` counts passes over a finite data set; for a stream use "
        "`budget.total_gradients`");
  if (config.step != StepChoice::given)
    refuse("a pilot for the step size needs a finite data set; give `lr` X");
  if (config.run.sampling != Sampling::own)
    refuse("`sampling` " + to_string(config.run.sampling) +
           " needs a finite data set; rows of a stream go to the first worker that asks");
  if (config.run.batch && *config.run.batch == 0)
    refuse("`batch` = 0 (full batch) needs a finite data set, not a stream");
  if (problem.classes && logistic) refuse("`classes` is for softmax; logistic has two");
  if (!config.run.batch && logistic) config.run.batch = 32;
}

// Samples that arrive are learned in the order of the file, by the first worker that asks.
void require_no_draws(const Config& config) {
  if (!config.world.arrivals.times) return;
  if (config.step == StepChoice::proved)
    throw InputError(
        "`lr` proved: there is no proof for `pace.arrivals`, where samples come in the order of "
        "the file; give `lr` X");
  if (config.run.sampling != Sampling::own)
    throw InputError("`sampling` " + to_string(config.run.sampling) +
                     " has no effect with `pace.arrivals`: samples that arrive go to the first "
                     "worker that asks");
}

// What the proofs suppose. All ranks come by here: rank 0 alone looks for the step.
void resolve_proved(Config& config) {
  if (config.step != StepChoice::proved) return;
  if (!config.run.rule.is_plain())
    throw InputError(
        "`lr` proved needs plain SGD with one fixed step; for other rules use `lr` auto");
  if (!config.run.look_ahead) config.run.look_ahead = LookAhead{};
  if (!config.run.look_ahead->is_off())
    throw InputError("`lr` proved needs gradients at the replicas; use `look_ahead` off");
  if (config.run.message != MessageFormat::full)
    throw InputError("`lr` proved needs full updates; use `message` full");
  if (config.run.batch.value_or(0) == 0) return;
  // With noise they are for independent draws: batches of one pass exclude each other.
  Sampling& sampling = config.run.sampling;
  if (!config.sampling_given) sampling = Sampling::independent;
  if (sampling == Sampling::independent) return;
  throw InputError("`lr` proved: with batches there is no proof for `sampling` " +
                   to_string(sampling) + "; use `sampling` independent, or `batch` 0 (full batch)");
}

void require_room_for_letters(const CompareSettings& compare) {
  constexpr double mm_per_point = 5;  // an axis and its numbers
  const double font = compare.paper_font.value_or(8), least = mm_per_point * font;
  if (compare.paper_width.value_or(84) < least)
    throw InputError(
        fmt::format("`compare.paper_font` {} needs a `compare.paper_width` of at least "
                    "{} mm",
                    font, least));
}

}  // namespace

void set_default_evaluation(Config& config) {
  if (!config.evaluation_was_given()) config.run.evaluation.every = std::chrono::seconds(10);
}

void set_default_grid(Config& config) {
  auto& every = config.run.evaluation.every;
  if (every.count() > 0) return;
  const bool small = config.problem.model == "quadratic" || config.problem.model == "logistic";
  const Nanoseconds usual = config.world.compute.model.usual();
  const Nanoseconds gradients = config.compare.quick ? 16 : 2;
  every =
      std::chrono::nanoseconds(std::max<Nanoseconds>(1, small ? usual / 10 : usual * gradients));
}

void resolve(Config& config) {
  TrainOptions& run = config.run;
  const ModelDefaults defaults = defaults_of(config.problem.model);
  if (config.problem.data.empty()) config.problem.data = defaults.data;
  require_arrays(config.problem);
  require_room_for_letters(config.compare);
  resolve_engine(config.ranks, config.workers);
  if (config.ranks.expected > 0 && run.chaos.on_links())
    throw InputError("chaos on links needs threads or the simulator, not MPI ranks");
  resolve_stream(config);
  if (!config.workers)
    config.workers =
        config.elastic.listen.empty() ? workers_of(run.topology).value_or(defaults.workers) : 1;
  run.workers = *config.workers;
  if (config.speeds) run.time_factors = config.speeds->time_factors(run.workers, run.seed);
  run.eta = config.lr.value_or(defaults.lr);
  if (!run.batch) run.batch = defaults.batch;
  require_no_draws(config);
  resolve_proved(config);
  if (config.world.arrivals.times && *run.batch == 0)
    throw InputError("`pace.arrivals` needs mini-batches: `batch` must be at least 1");
  require_network_choices(config.problem);
  const bool stream = is_stream(config.problem.data);
  const bool open = run.gradients.empty() && !run.total_gradients && !run.epochs &&
                    !ends_without_budget(run) && !stream;
  if (open) {
    run.epochs = epochs_of(defaults, config.problem);
    run.gradients = defaults.gradients;
  }
  if (stream) run.make_samples = [](WorkerId, std::uint64_t) { return nullptr; };  // has an end
  validate(run);
  const Graph graph = graph_of(run);
  if (!run.relay) run.relay = default_relay(graph);
  require_delivery(graph, relay_of(run, graph));
  TrainOptions with_joiners = run;  // cuts may concern them
  with_joiners.workers += config.elastic.membership_plan.joins.size();
  validate(run.chaos, with_joiners.workers == run.workers ? graph : graph_of(with_joiners));
}

}  // namespace dasgd::config
