#include "settings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/watch/server.hpp"
#include "ranks.hpp"
#include "setting_groups.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

using Kind = Setting::Kind;
constexpr std::uint64_t most32 = std::numeric_limits<std::uint32_t>::max() - 1;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool parse_flag(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw InputError("\"" + text + "\" is neither true nor false");
}

Setting text(std::string key, std::string option, std::string placeholder, std::string help,
             std::string Config::*member) {
  return {key,
          option,
          Kind::value,
          placeholder,
          help,
          [member](Config& c, const std::string& v) { c.*member = v; },
          [member](const Config& c) {
            return (c.*member).empty() ? std::nullopt : std::optional(quoted(c.*member));
          }};
}

double positive(double value) {
  if (!(value > 0)) throw InputError(fmt::format("{} is not a positive number", value));
  return value;
}

Setting real(std::string key, std::string option, std::string help,
             std::optional<double> Config::*member, bool any_sign = false) {
  return {key,
          option,
          Kind::value,
          "X",
          help,
          [=](Config& c, const std::string& v) {
            c.*member = any_sign ? parse_real(v) : positive(parse_real(v));
          },
          [member](const Config& c) {
            return c.*member ? std::optional(show_real(*(c.*member))) : std::nullopt;
          }};
}

Setting count(std::string key, std::string option, std::string help,
              std::optional<std::size_t> Config::*member, std::size_t least) {
  return {key,
          option,
          Kind::value,
          "N",
          help,
          [=](Config& c, const std::string& v) {
            c.*member = parse_whole(v, most32);
            if (*(c.*member) < least) throw InputError(fmt::format("must be at least {}", least));
          },
          [member](const Config& c) {
            return c.*member ? std::optional(std::to_string(*(c.*member))) : std::nullopt;
          }};
}

Setting flag(std::string key, std::string option, std::string help, bool Config::*member) {
  return {key,
          option,
          Kind::flag,
          "",
          help,
          [member](Config& c, const std::string& v) { c.*member = parse_flag(v); },
          [member](const Config& c) {
            return std::optional<std::string>(c.*member ? "true" : "false");
          }};
}

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
  config.lr_auto = value == "auto";
  if (config.lr_auto) {
    config.lr.reset();
  } else {
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

// A text of the virtual world; reading the whole world tells whether it is right.
Setting world(std::string key, std::string option, std::string placeholder, std::string help,
              std::string WorldText::*member) {
  return {key,
          option,
          Kind::value,
          placeholder,
          help,
          [member](Config& c, const std::string& v) {
            WorldText alone;
            alone.*member = v;
            make_world(alone);
            c.world.*member = v;
          },
          [member](const Config& c) {
            return (c.world.*member).empty() ? std::nullopt
                                             : std::optional(quoted(c.world.*member));
          }};
}

Setting world_list(std::string key, std::string option, std::string placeholder, std::string help,
                   std::vector<std::string> WorldText::*member) {
  return {key,
          option,
          Kind::repeatable,
          placeholder,
          help,
          [member](Config& c, const std::string& v) {
            WorldText alone;
            (alone.*member).push_back(v);
            make_world(alone);
            (c.world.*member).push_back(v);
          },
          [member](const Config& c) -> std::optional<std::string> {
            if ((c.world.*member).empty()) return std::nullopt;
            std::vector<std::string> items;
            for (const std::string& item : c.world.*member) items.push_back(quoted(item));
            return list(items);
          }};
}

std::vector<Setting> engine_of_train() {
  return {
      {"engine", "--engine", Kind::value, "NAME",
       "threads, or mpi: one or several workers on every rank (default: mpi under mpirun and srun, "
       "else threads)",
       [](Config& c, const std::string& v) { c.ranks.engine = parse_engine(v); },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.engine == EngineKind::automatic) return std::nullopt;
         return quoted(c.ranks.engine == EngineKind::mpi ? "mpi" : "threads");
       }},
  };
}

std::vector<Setting> ranks_of_train() {
  return {
      {"ranks.workers_per_rank", "--workers-per-rank", Kind::value, "N",
       "worker threads on every MPI rank; they share gradients in memory (default: 1)",
       [](Config& c, const std::string& v) {
         c.ranks.workers_per_rank = parse_whole(v, most32);
         if (*c.ranks.workers_per_rank < 1) throw InputError("must be at least 1");
       },
       // Not written: with the number of workers the run repeats on any number of ranks that fits.
       [](const Config&) { return std::optional<std::string>(); }},
      {"ranks.polling", "--polling", Kind::value, "HOW",
       "how a rank waits for messages: eager (takes a core), patient (sleeps), or auto: eager "
       "where a core is to spare",
       [](Config& c, const std::string& v) {
         require_polling(v);
         c.ranks.polling = v;
       },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.polling == "auto") return std::nullopt;
         return quoted(c.ranks.polling);
       }},
      {"ranks.timeout", "--rank-timeout", Kind::value, "T",
       "a rank that is silent for so long is taken for dead and ends the job (default: 8s)",
       [](Config& c, const std::string& v) {
         c.ranks.timeout = parse_duration(v);
         if (c.ranks.timeout < std::chrono::seconds(2)) throw InputError("must be at least 2s");
       },
       [](const Config& c) -> std::optional<std::string> {
         if (c.ranks.timeout == RankSettings().timeout) return std::nullopt;
         return quoted(show_duration(c.ranks.timeout));
       }},
      {"ranks.log", "--log-ranks", Kind::flag, "", "every rank says on standard error what it does",
       [](Config& c, const std::string& v) { c.ranks.log = parse_flag(v); },
       [](const Config& c) -> std::optional<std::string> {
         return c.ranks.log ? std::optional<std::string>("true") : std::nullopt;
       }},
  };
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
      {"pace.compute", "--compute", Kind::value, "T", "pad every gradient to at least this time",
       [](Config& c, const std::string& v) { c.compute = parse_duration(v); },
       [](const Config& c) { return std::optional(quoted(show_duration(c.compute))); }},
      count("pace.in_flight", "--in-flight",
            "own gradients a worker may have on their way before it stops computing",
            &Config::in_flight, 2)};
}

// How a run is looked at is not part of what it does: none of this is written to config.toml.
std::vector<Setting> watch_of_train() {
  const auto not_written = [](const Config&) { return std::optional<std::string>(); };
  return {{"watch.port", "--watch", Kind::optional_value, "[PORT]",
           "show the run in a browser while it goes (default port: 9797; 0: any free one)",
           [](Config& c, const std::string& v) {
             c.watch_port = v.empty() ? 9797 : static_cast<unsigned short>(parse_whole(v, 65535));
           },
           not_written},
          {"watch.address", "--watch-address", Kind::value, "ADDR",
           "listen there instead of 127.0.0.1; everything then needs the token",
           [](Config& c, const std::string& v) {
             watch::is_loopback(v);
             c.watch_address = v;
           },
           not_written},
          {"watch.token", "--watch-token", Kind::value, "TOKEN",
           "the token, required of every request (default: drawn for each run)",
           [](Config& c, const std::string& v) {
             watch::require_token_form(v);
             c.watch_token = v;
           },
           not_written}};
}

std::vector<Setting> pace_of_simulate() {
  return {
      world("pace.compute", "--compute", "T",
            "time per gradient: one value, one per worker (a,b,...), uniform:A:B, "
            "lognormal:MEDIAN:SIGMA, exponential:MEAN, or replay:RUN_DIR of a run with a trace",
            &WorldText::compute),
      world("pace.latency", "--latency", "T",
            "time per frame on a link: one value, a form as above, or file:PATH with "
            "\"a b TIME\" lines",
            &WorldText::latency),
      world("pace.apply", "--apply", "T", "time per application", &WorldText::apply),
      world("pace.start", "--start", "T,...", "when each worker begins", &WorldText::start),
      world("pace.bandwidth", "--bandwidth", "BYTES",
            "bytes per second of each link; frames queue for it", &WorldText::bandwidth),
      {"pace.threads", "--threads", Kind::value, "N", "real cores that compute gradients ahead",
       [](Config& c, const std::string& v) { c.world.threads = parse_whole(v, 1024); },
       [](const Config& c) { return std::optional(std::to_string(c.world.threads)); }},
  };
}

// Both commands disturb their links and workers in the same words.
std::vector<Setting> chaos_of_both() {
  return {
      world("chaos.delay", "--delay", "SHARE:UP_TO",
            "this share of frames takes longer, by up to UP_TO", &WorldText::delay),
      world("chaos.reorder", "--reorder", "SHARE", "this share of frames may be overtaken",
            &WorldText::reorder),
      world("chaos.duplicate", "--duplicate", "SHARE", "this share of frames arrives twice",
            &WorldText::duplicate),
      world("chaos.drop", "--drop", "SHARE", "this share of frames is lost and sent again",
            &WorldText::drop),
      world_list("chaos.pause", "--pause", "WORKER:AT:FOR",
                 "a worker begins nothing new for a while", &WorldText::pauses),
      world_list("chaos.partition", "--partition", "A|B:AT:FOR",
                 "frames between two sides (0,1|2,3) wait until it heals", &WorldText::partitions),
  };
}

std::vector<Setting> make_settings(Command command) {
  std::vector<Setting> all{
      {"model", "--model", Kind::value, "NAME|FILE.pt",
       "quadratic, logistic, softmax; with LibTorch: mlp, cnn, resnet18, char-transformer or a "
       "TorchScript file",
       set_model, [](const Config& c) { return std::optional(quoted(c.model)); }},
      text("data", "--data", "NAME|PATH",
           "a known data set (dasgd data list), a LIBSVM file, a JSON instance {\"A\", \"b\"}, a "
           "directory of idx images or of CIFAR-10, a CSV file, a text; without it quadratic and "
           "logistic draw the paper's instance",
           &Config::data),
      text("loss", "--loss", "NAME", "of networks: cross-entropy (default) or mse", &Config::loss),
      text("device", "--device", "NAME", "of networks: cpu (default) or cuda", &Config::device),
      text("augment", "--augment", "LIST", "of images for networks: flip, crop or flip,crop",
           &Config::augment),
      count("workers", "--workers", "worker threads", &Config::workers, 1),
      {"lr", "--lr", Kind::value, "X|auto",
       "the step size eta; auto takes the advice of a short pilot (see: dasgd advise)", set_lr,
       [](const Config& c) { return c.lr ? std::optional(show_real(*c.lr)) : std::nullopt; }},
      count("batch", "--batch", "samples per gradient; 0 is the whole data set", &Config::batch, 0),
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
      real("budget.epochs", "--epochs", "passes of each worker over its share of the data",
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
      {"output.out", "--out", Kind::value, "DIR", "the run directory (default: runs/MODEL-TIME)",
       [](Config& c, const std::string& v) { c.out = v; },
       // Not written: repeating a run must not replace it.
       [](const Config&) { return std::optional<std::string>(); }},
      flag("output.trace", "--trace", "write every application to trace.jsonl", &Config::trace),
      flag("output.no_report", "--no-report", "do not write report.html at the end",
           &Config::no_report),
      flag("output.quiet", "--quiet", "print errors only", &Config::quiet),
      flag("output.json", "--json", "print the summary as JSON", &Config::json),
  };
  // What only some commands have and what has a file of its own stands before the output. The
  // file's tables follow this order: "pace.slow" stands right before, so pace comes first.
  auto own = command == Command::train ? pace_of_train() : pace_of_simulate();
  const auto add = [&](const std::vector<Setting>& group) {
    own.insert(own.end(), group.begin(), group.end());
  };
  add(guard_settings());
  add(chaos_of_both());
  add(rule_settings());
  add(evaluation_settings());
  if (command == Command::train) add(checkpoint_settings());
  const auto output = std::find_if(all.begin(), all.end(), [](const Setting& setting) {
    return setting.key.starts_with("output.");
  });
  const auto at = all.insert(output, own.begin(), own.end());
  if (command == Command::train) {
    const auto ranks = ranks_of_train(), engine = engine_of_train(), watch = watch_of_train();
    all.insert(at + static_cast<std::ptrdiff_t>(own.size()), ranks.begin(), ranks.end());
    const auto after_seed = std::find_if(all.begin(), all.end(), [](const Setting& setting) {
      return setting.key.find('.') != std::string::npos;
    });
    all.insert(after_seed, engine.begin(), engine.end());
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
