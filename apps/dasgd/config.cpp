#include "config.hpp"

#include <algorithm>
#include <filesystem>

#include "dasgd/core/error.hpp"
#include "dasgd/core/nearest_word.hpp"
#include "dasgd/topology/builders.hpp"
#include "network_problem.hpp"
#include "stream.hpp"

namespace dasgd::app {
namespace {

struct ModelDefaults {
  const char* data;
  double lr;
  std::size_t batch;  // 0: the whole data set, so that gradients carry no noise, as in the paper
  std::optional<double> epochs;
  std::vector<std::uint32_t> gradients;
};

ModelDefaults defaults_of(const std::string& model) {
  if (model == "softmax") return {"fashion-mnist", 0.05, 64, 5, {}};
  if (model == "cnn" || model == "mlp") return {"fashion-mnist", 0.05, 32, 2, {}};
  if (model == "resnet18") return {"cifar10", 0.05, 32, 2, {}};
  if (is_network(model)) return {"", 0.05, 32, 2, {}};
  if (model == "logistic") return {"", 0.1, 0, std::nullopt, {1000}};
  return {"", 0.01, 0, std::nullopt, {1000}};
}

}  // namespace

void require_known_model(const std::string& name) {
  std::vector<std::string> names{"quadratic", "logistic", "softmax"};
  names.insert(names.end(), network_names().begin(), network_names().end());
  if (!is_network(name) && std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("unknown model \"" + name + "\"" + suggestion(name, names));
  if (name.ends_with(".pt") && !std::filesystem::is_regular_file(name))
    throw InputError("is not a file; a model is a name or a TorchScript file");
}

void set_default_evaluation(Config& config) {
  if (config.eval_every) return;
  config.eval_every = std::chrono::seconds(10);
  config.eval_share = 0.1;
}

void resolve(Config& config) {
  const ModelDefaults defaults = defaults_of(config.model);
  if (config.data.empty()) config.data = defaults.data;
  resolve_engine(config.ranks, config.workers);
  if (config.ranks.expected > 0 && make_chaos(config.world).on_links())
    throw InputError("chaos on links needs threads or the simulator, not MPI ranks");
  resolve_stream(config);
  if (!config.workers) config.workers = workers_of(config.topology).value_or(2);
  if (!config.lr) config.lr = defaults.lr;
  if (!config.batch) config.batch = defaults.batch;
  require_network_settings(config);
  const bool open = config.gradients.empty() && !config.total_gradients && !config.epochs &&
                    !config.max_time && !config.target_error && !config.target_loss &&
                    !config.target_accuracy && !config.patience && !is_stream(config.data);
  if (open) {
    config.epochs = defaults.epochs;
    config.gradients = defaults.gradients;
  }
  TrainOptions options = train_options(config);
  if (is_stream(config.data))  // whatever it gives, it has an end of its own
    options.make_samples = [](WorkerId, std::uint64_t) { return nullptr; };
  validate(options);
  const Graph graph = build_graph(config.topology, *config.workers, config.seed);
  if (!config.relay) config.relay = default_relay(graph);
  require_delivery(graph, *config.relay);
  validate(make_chaos(config.world), graph);
}

TrainOptions train_options(const Config& config) {
  TrainOptions options;
  options.workers = *config.workers;
  options.topology = config.topology;
  options.relay = config.relay;
  options.eta = *config.lr;
  options.rule = config.rule;
  options.batch = config.batch;
  options.sampling = config.sampling;
  options.gradients = config.gradients;
  options.total_gradients = config.total_gradients;
  options.epochs = config.epochs;
  options.max_time = config.max_time;
  options.target_error = config.target_error;
  options.target_loss = config.target_loss;
  options.on_divergence = config.on_divergence;
  options.smoothness = config.L;
  options.measure_gradients = config.measure_gradients;
  options.evaluation.every = config.eval_every.value_or(std::chrono::nanoseconds(0));
  options.evaluation.share = config.eval_share;
  if (config.patience) options.evaluation.patience = static_cast<std::uint32_t>(*config.patience);
  options.evaluation.target_accuracy = config.target_accuracy;
  options.slow = config.slow;
  options.chaos = make_chaos(config.world);
  options.compute = config.compute;
  options.in_flight = config.in_flight;
  options.seed = config.seed;
  return options;
}

}  // namespace dasgd::app
