#include "settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/topology/builders.hpp"
#include "setting_groups.hpp"
#include "setting_kinds.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

using Kind = Setting::Kind;
SlowWorker parse_slow(const std::string& value) {
  const auto parts = split(value, ':');
  if (parts.size() != 2)
    throw InputError("\"" + value + "\" is not WORKER:FACTOR; write it like 1:10");
  return {worker_id(parse_whole(parts[0], most32)), parse_real(parts[1])};
}

void set_model(Config& config, const std::string& value) {
  require_known_model(value);
  config.model = value;
}

void set_topology(Config& config, const std::string& value) {
  require_known_topology(value);
  config.topology = value;
}

void set_gradients(Config& config, const std::string& value) {
  config.gradients.clear();
  for (const std::string& part : split(value, ','))
    config.gradients.push_back(static_cast<std::uint32_t>(parse_whole(part, most32)));
}

void set_lr(Config& config, const std::string& value) {
  config.lr.reset();
  if (value == "auto") {
    config.step_choice = Config::StepChoice::automatic;
  } else if (value == "proved") {
    config.step_choice = Config::StepChoice::proved;
  } else if (std::none_of(value.begin(), value.end(),
                          [](char c) { return c >= '0' && c <= '9'; })) {
    throw InputError("\"" + value + "\" is neither a number nor auto or proved");
  } else {
    config.step_choice = Config::StepChoice::given;
    config.lr = positive(parse_real(value));
  }
}

void set_on_divergence(Config& config, const std::string& value) {
  if (value != "stop" && value != "halve")
    throw InputError("\"" + value + "\" is neither stop nor halve");
  config.on_divergence = value == "stop" ? OnDivergence::stop : OnDivergence::halve;
}

std::optional<std::string> show_gradients(const Config& config) {
  if (config.gradients.empty()) return std::nullopt;
  if (config.gradients.size() == 1) return std::to_string(config.gradients[0]);
  return fmt::format("[{}]", fmt::join(config.gradients, ", "));
}

std::optional<std::string> show_slow(const Config& config) {
  if (config.slow.empty()) return std::nullopt;
  std::vector<std::string> items;
  for (const SlowWorker& slow : config.slow)
    items.push_back(quoted(fmt::format("{}:{}", index(slow.worker), slow.factor)));
  return list(items);
}

std::vector<Setting> guard_settings() {
  return {
      {"guard.on_divergence", "--on-divergence", Kind::value, "stop|halve",
       "when the loss runs away: stop with the last good model, or halve the step size of the "
       "worker that sees it",
       set_on_divergence,
       [](const Config& c) {
         return std::optional(quoted(c.on_divergence == OnDivergence::stop ? "stop" : "halve"));
       }},
      real("guard.L", "--L",
           "smoothness of the objective, for the certificate; by default its closed form",
           &Config::L),
      flag("guard.measure_gradients", "--measure-gradients",
           "evaluate the full gradient at every model, and hold the sums against the bounds",
           &Config::measure_gradients),
  };
}

std::vector<Setting> pace_of_train() {
  return {
      {"pace.compute", "--compute", Kind::value, "T",
       "every gradient takes at least this time (the paper adds its 50 ms to the own time instead)",
       [](Config& c, const std::string& v) { c.compute = parse_duration(v); },
       [](const Config& c) { return std::optional(quoted(show_duration(c.compute))); }},
  };
}

std::vector<Setting> make_settings(Command command) {
  std::vector<Setting> all{
      {"model", "--model", Kind::value, "NAME|FILE.pt",
       "quadratic, logistic, softmax; with LibTorch: mlp, cnn, resnet18, char-transformer or a "
       "TorchScript file",
       set_model, [](const Config& c) { return std::optional(quoted(c.model)); }},
      text(
          "data", "--data", "NAME|PATH|-|follow:FILE",
          "a known data set (dasgd data list), a LIBSVM file, a JSON instance {\"A\", \"b\"}, a "
          "directory of idx images or of CIFAR-10, a CSV file, a text; - or follow:FILE for rows "
          "that "
          "arrive on standard input or at the end of a file (train, logistic and softmax); without "
          "it quadratic and logistic draw the paper's instance",
          &Config::data),
      text("loss", "--loss", "NAME", "of networks: cross-entropy (default) or mse", &Config::loss),
      text("device", "--device", "NAME", "of networks: cpu (default) or cuda", &Config::device),
      text("augment", "--augment", "LIST", "of images for networks: flip, crop or flip,crop",
           &Config::augment),
      count("workers", "--workers", "worker threads", &Config::workers, 1),
      {"lr", "--lr", Kind::value, "X|auto|proved",
       "the step size eta; auto: one that trains well, found by trying; proved: the largest that "
       "is "
       "proved for what a pilot measures (see: dasgd advise)",
       set_lr,
       [](const Config& c) { return c.lr ? std::optional(show_real(*c.lr)) : std::nullopt; }},
      count("batch", "--batch", "samples per gradient; 0 is the whole data set", &Config::batch, 0),
      {"sampling", "--sampling", Kind::value, "own|shards",
       "what workers draw from: own (default), each from the whole data set in an order of its "
       "own; "
       "shards, each from a fixed share, whose weight in what is minimised is then the share of "
       "gradients that its worker makes",
       [](Config& c, const std::string& v) { c.sampling = parse_sampling(v); },
       [](const Config& c) { return std::optional(quoted(to_string(c.sampling))); }},
      {"seed", "--seed", Kind::value, "N", "seed of everything that is drawn",
       [](Config& c, const std::string& v) {
         c.seed = parse_whole(v, std::numeric_limits<std::int64_t>::max());
       },
       [](const Config& c) { return std::optional(std::to_string(c.seed)); }},

      {"topology.kind", "--topology", Kind::value, "KIND",
       fmt::format("who sends to whom: {}", fmt::join(topology_names(), ", ")), set_topology,
       [](const Config& c) { return std::optional(quoted(c.topology)); }},
      {"topology.relay", "--relay", Kind::value, "MODE",
       "when foreign gradients are passed on: arrival, apply or none (default: none on the full "
       "graph, arrival elsewhere)",
       [](Config& c, const std::string& v) { c.relay = parse_relay(v); },
       [](const Config& c) {
         return c.relay ? std::optional(quoted(to_string(*c.relay))) : std::nullopt;
       }},

      {"budget.gradients", "--gradients", Kind::value, "N[,N...]",
       "gradients per worker: one number, or one for each worker", set_gradients, show_gradients},
      count("budget.total_gradients", "--total-gradients", "gradients of all workers together",
            &Config::total_gradients, 1),
      real("budget.epochs", "--epochs", "passes over the data by all workers together",
           &Config::epochs),
      {"budget.max_time", "--max-time", Kind::value, "T",
       "stop computing after this time (30s, 5min)",
       [](Config& c, const std::string& v) { c.max_time = parse_duration(v); },
       [](const Config& c) {
         return c.max_time ? std::optional(quoted(show_duration(*c.max_time))) : std::nullopt;
       }},
      real("budget.target_error", "--target-error",
           "stop when every worker's mean gradient norm over its last 30 models is at most this",
           &Config::target_error),
      real("budget.target_loss", "--target-loss",
           "stop when every worker's mean loss over its last 30 mini-batches is at most this",
           &Config::target_loss, true),

      {"pace.slow", "--slow", Kind::repeatable, "WORKER:FACTOR",
       "emulate a slow worker: each gradient takes FACTOR times as long (repeatable)",
       [](Config& c, const std::string& v) { c.slow.push_back(parse_slow(v)); }, show_slow},
      count("pace.in_flight", "--in-flight",
            "buffers of a worker for its own gradients before those that wait for workers behind "
            "are folded (default: what fits into 2 GiB, 4 to 128)",
            &Config::in_flight, 1),
      {"output.out", "--out", Kind::value, "DIR", "the run directory (default: runs/MODEL-TIME)",
       [](Config& c, const std::string& v) {
         if (v.empty()) throw InputError("names no directory");
         c.out = v;
       },
       // Not written: repeating a run must not replace it.
       [](const Config&) { return std::optional<std::string>(); }},
      flag("output.trace", "--trace", "write every application to trace.jsonl", &Config::trace),
      flag("output.no_report", "--no-report", "do not write report.html at the end",
           &Config::no_report),
      flag("output.quiet", "--quiet", "print errors and warnings only", &Config::quiet),
      flag("output.json", "--json", "print the summary as JSON", &Config::json),
  };
  // What only some commands have and what has a file of its own stands before the output. The
  // file's tables follow this order: "pace.in_flight" stands right before, so pace comes first.
  auto own = command == Command::train ? pace_of_train() : world_settings();
  const auto add = [&](const std::vector<Setting>& group) {
    own.insert(own.end(), group.begin(), group.end());
  };
  add(guard_settings());
  add(chaos_settings());
  add(rule_settings());
  add(evaluation_settings());
  if (command == Command::train) add(checkpoint_settings());
  const auto output = std::find_if(all.begin(), all.end(), [](const Setting& setting) {
    return setting.key.starts_with("output.");
  });
  const auto at = all.insert(output, own.begin(), own.end());
  if (command == Command::train) {
    const auto ranks = rank_settings(), watch = watch_settings();
    auto own_keys = stream_settings();
    for (const Setting& setting : engine_settings()) own_keys.push_back(setting);
    all.insert(at + static_cast<std::ptrdiff_t>(own.size()), ranks.begin(), ranks.end());
    const auto after_seed = std::find_if(all.begin(), all.end(), [](const Setting& setting) {
      return setting.key.find('.') != std::string::npos;
    });
    all.insert(after_seed, own_keys.begin(), own_keys.end());
    all.insert(all.end(), watch.begin(), watch.end());
  }
  return all;
}

// Those of a simulation; and the config of a real run can be read as well.
std::vector<Setting> settings_of_advise() {
  std::vector<Setting> all = make_settings(Command::simulate);
  for (const Setting& setting : make_settings(Command::train)) {
    const auto same = [&](const Setting& other) { return other.key == setting.key; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(setting);
  }
  return all;
}

}  // namespace

const std::vector<Setting>& settings(Command command) {
  static const std::vector<Setting> of_train = make_settings(Command::train);
  static const std::vector<Setting> of_simulate = make_settings(Command::simulate);
  static const std::vector<Setting> of_advise = settings_of_advise();
  if (command == Command::advise) return of_advise;
  return command == Command::train ? of_train : of_simulate;
}

}  // namespace dasgd::app
