#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd::config {
namespace {

SlowWorker parse_slow(const std::string& value) {
  const auto parts = split(value, ':');
  if (parts.size() != 2)
    throw InputError("\"" + value + "\" is not WORKER:FACTOR; write it like 1:10");
  return {worker_id(parse_whole(parts[0], most32)), parse_real(parts[1])};
}

std::string show_slow(const SlowWorker& slow) {
  return fmt::format("{}:{}", index(slow.worker), slow.factor);
}

std::vector<std::uint32_t> parse_gradients(const std::string& value) {
  std::vector<std::uint32_t> gradients;
  for (const std::string& part : split(value, ','))
    gradients.push_back(static_cast<std::uint32_t>(parse_whole(part, most32)));
  return gradients;
}

std::optional<std::string> show_gradients(const std::vector<std::uint32_t>& gradients) {
  if (gradients.empty()) return std::nullopt;
  if (gradients.size() == 1) return std::to_string(gradients[0]);
  return fmt::format("[{}]", fmt::join(gradients, ", "));
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void set_lr(Config& config, const std::string& value) {
  config.lr.reset();
  if (value == "auto") {
    config.step = StepChoice::automatic;
  } else if (value == "proved") {
    config.step = StepChoice::proved;
  } else if (value == "of the optimizer") {  // as Peer writes it
    throw InputError(
        "this was a loop of a Python program, with an optimizer of its own; continue "
        "it there");
  } else if (!has_digit(value)) {
    throw InputError("\"" + value + "\" is neither a number nor auto or proved");
  } else {
    config.step = StepChoice::given;
    config.lr = parse_positive(value);
  }
}

// A file that says "constant" asks for it; where nobody has asked, one may come with the step.
std::optional<std::string> show_schedule(const Config& config) {
  const Schedule& schedule = config.run.rule.schedule;
  if (!config.schedule_given && schedule.kind == Schedule::Kind::constant) return {};
  return quoted(to_string(schedule));
}

// A step that is still to be found stands in a file as what it was asked to be.
std::optional<std::string> show_lr(const Config& config) {
  if (config.lr || config.step == StepChoice::given) return show_real(config.run.eta);
  return quoted(config.step == StepChoice::automatic ? "auto" : "proved");
}

OnDivergence parse_on_divergence(const std::string& value) {
  if (value == "stop") return OnDivergence::stop;
  if (value == "halve") return OnDivergence::halve;
  throw InputError("\"" + value + "\" is neither stop nor halve");
}

std::string known_topology(const std::string& value) {
  require_known_topology(value);
  return value;
}

}  // namespace

std::vector<Setting> algorithm_settings() {
  return {
      count("workers", "--workers", "worker threads", field(&Config::workers), 1),
      {"lr", "--lr", Setting::Kind::value, "X|auto|proved",
       "the step size eta; auto: one that trains well, found by short trials; proved: a step with "
       "a convergence proof, computed for at least twice the staleness measured in a short pilot "
       "run (see: dasgd advise). Default: 0.01; 0.1 for logistic, 0.05 for softmax, linear and "
       "networks",
       set_lr, show_lr},
      named({"look_ahead", "--look-ahead", "LAMBDA|auto|off",
             "compute each gradient at a guess of the model to come: the worker's own recent "
             "updates, times LAMBDA (0 to 1), stand in for the updates of others that have not "
             "arrived; off: Algorithm 1 of the paper (default: auto with mini-batches, off without "
             "noise)"},
            field(&Config::run, &TrainOptions::look_ahead), parse_look_ahead),
      named({"message", "--message", "full|int8|int4|ternary|auto",
             "send updates in few bits, with error feedback: the rounding error goes into the "
             "worker's next update, and all replicas stay the same; auto: as many bits as the "
             "network carries in time (default: full)"},
            field(&Config::run, &TrainOptions::message), parse_message_format),
      count("batch", "--batch",
            "samples per gradient; 0: the full batch (default: 0; 64 for softmax, 32 for linear "
            "and networks)",
            field(&Config::run, &TrainOptions::batch), 0),
      {"sampling", "--sampling", Setting::Kind::value, "own|shards|independent|dirichlet:ALPHA",
       "how workers draw samples: own (default), from the whole data set, each worker in its own "
       "order; independent, from the whole data set with replacement, as the proofs with noise "
       "require; shards, from a fixed shard per worker, which changes what is minimised; "
       "dirichlet, from shards skewed by label, more so for small ALPHA",
       [](Config& c, const std::string& v) {
         c.run.sampling = parse_sampling(v);
         c.sampling_given = true;
       },
       [](const Config& c) { return std::optional(quoted(to_string(c.run.sampling))); }},
      place(
          {"seed", "--seed", "N", "random seed (default: 1)"},
          field(&Config::run, &TrainOptions::seed),
          [](const std::string& v) {
            return parse_whole(v, std::numeric_limits<std::int64_t>::max());
          },
          [](std::uint64_t seed) { return std::to_string(seed); }),
  };
}

std::vector<Setting> topology_settings() {
  return {
      place({"topology.kind", "--topology", fmt::format("{}", fmt::join(topology_names(), "|")),
             "who sends to whom"},
            field(&Config::run, &TrainOptions::topology), known_topology,
            [](const std::string& v) { return quoted(place_from_anywhere(v)); }),
      named(
          {"topology.relay", "--relay", "arrival|apply|none|mesh|tree[:K]|auto",
           "when gradients of others are forwarded (default: none on the full graph, arrival "
           "elsewhere); or which links there are: mesh, all workers send to all; tree, workers "
           "with "
           "K children each (default: 4) forward sums; auto, a tree if the network cannot carry a "
           "mesh of more than 8 workers"},
          field(&Config::run, &TrainOptions::relay), parse_relay),
  };
}

std::vector<Setting> budget_settings() {
  return {
      place({"budget.gradients", "--gradients", "N[,N...]",
             "gradients per worker: one number, or one for each worker (default without another "
             "budget, target or time limit: 1000; no limit for softmax, linear and networks)"},
            field(&Config::run, &TrainOptions::gradients), parse_gradients, show_gradients),
      count("budget.total_gradients", "--total-gradients",
            "stop after this many gradients of all workers together",
            field(&Config::run, &TrainOptions::total_gradients), 1),
      real("budget.epochs", "--epochs",
           "stop after this many passes over the data by all workers together (default without "
           "another budget, target or time limit: 5 for softmax and linear, 2 for networks, more "
           "for small CSV files)",
           field(&Config::run, &TrainOptions::epochs)),
      duration("budget.max_time", "--max-time",
               "stop computing after this time (30s, 5min); the defaults of --gradients and "
               "--epochs then no longer apply",
               field(&Config::run, &TrainOptions::max_time)),
      real("budget.target_error", "--target-error",
           "stop when the mean gradient norm over the last 30 models is at most this at every "
           "worker",
           field(&Config::run, &TrainOptions::target_error)),
      place(
          {"budget.target_loss", "--target-loss", "X",
           "stop when the mean loss over the last 30 mini-batches is at most this at every worker"},
          field(&Config::run, &TrainOptions::target_loss), parse_real, show_real),
  };
}

std::vector<Setting> pace_settings() {
  return {
      repeatable({"pace.slow", "--slow", "WORKER:FACTOR",
                  "emulate a slow worker: each gradient takes FACTOR times as long (repeatable)"},
                 field(&Config::run, &TrainOptions::slow), parse_slow, show_slow),
      place(
          {"pace.speeds", "--speeds", "lognormal:SIGMA|pareto:ALPHA|FILE",
           "relative speeds of the workers: random times per gradient (lognormal around the usual "
           "one, or at least as long with a heavy Pareto tail), or a file with a speed per line "
           "(default: all equal)"},
          field(&Config::speeds), Speeds::parse,
          [](const Speeds& speeds) {
            return quoted(speeds.are_drawn() ? speeds.text() : from_anywhere(speeds.text()));
          }),
      count("pace.in_flight", "--in-flight",
            "buffers of a worker for its own gradients; when they are used up, what waits for slow "
            "workers is folded (default: what fits into 2 GiB, 8 to 128)",
            field(&Config::run, &TrainOptions::in_flight), 1),
  };
}

std::vector<Setting> guard_settings() {
  return {
      place(
          {"guard.on_divergence", "--on-divergence", "stop|halve",
           "on divergence: stop with the last good model (default), or halve the step size of the "
           "worker that detects it"},
          field(&Config::run, &TrainOptions::on_divergence), parse_on_divergence,
          [](OnDivergence v) { return quoted(v == OnDivergence::stop ? "stop" : "halve"); }),
      real("guard.L", "--L",
           "smoothness constant of the objective, for the certificate (default: its closed form)",
           field(&Config::run, &TrainOptions::smoothness)),
      flag("guard.measure_gradients", "--measure-gradients",
           "evaluate the full gradient at each model and compare the sums with the bounds",
           field(&Config::run, &TrainOptions::measure_gradients)),
  };
}

std::vector<Setting> rule_settings() {
  return {
      named({"rule.kind", "--rule", "sgd|momentum|nesterov|adam", "update rule (default: sgd)"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::kind), parse_rule),
      place({"rule.momentum", "--momentum", "X", "mu of momentum and nesterov (default: 0.9)"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::momentum), parse_real,
            show_real),
      place({"rule.beta1", "--beta1", "X", "adam: decay of the mean (default: 0.9)"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::beta1), parse_real, show_real),
      place({"rule.beta2", "--beta2", "X", "adam: decay of the mean square (default: 0.999)"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::beta2), parse_real, show_real),
      place({"rule.weight_decay", "--weight-decay", "X",
             "weight decay: L2, or decoupled with adam (AdamW)"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::weight_decay),
            parse_not_negative, show_real),
      place({"rule.clip", "--clip", "X", "clip gradients to this norm"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::clip), parse_real, show_real),
      {"rule.schedule", "--schedule", Setting::Kind::value, "KIND",
       "schedule of the step size, in gradients of all workers together: constant, "
       "step:EVERY:FACTOR, "
       "cosine[:TOTAL[:FLOOR]], or cooldown[:TOTAL[:SHARE]], which decays to 0 over the last SHARE "
       "(0.3) of the run (default: constant; cooldown with --lr auto)",
       [](Config& c, const std::string& v) {
         set_schedule(c.run.rule.schedule, v);
         c.schedule_given = true;
       },
       show_schedule},
      place({"rule.warmup", "--warmup", "N",
             "warm up the step size over the first N gradients of all workers together"},
            field(&Config::run, &TrainOptions::rule, &RuleOptions::schedule, &Schedule::warmup),
            parse_not_negative, show_real),
  };
}

}  // namespace dasgd::config
