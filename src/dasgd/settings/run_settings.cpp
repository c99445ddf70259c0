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
      count(
          "workers", "--workers", "worker threads", [](auto& c) -> auto& { return c.workers; }, 1),
      {"lr", "--lr", Setting::Kind::value, "X|auto|proved",
       "the step size eta; auto: one that trains well, found by trying; proved: the largest that "
       "is proved for what a pilot measures (see: dasgd advise)",
       set_lr, show_lr},
      named(
          {"look_ahead", "--look-ahead", "LAMBDA|auto|off",
           "compute where the others are about to be: own recent updates stand in, with weight "
           "LAMBDA from 0 to 1, for those of others that are still missing; off: Algorithm 1 of "
           "the paper; default: auto with mini-batches, off without noise"},
          [](auto& c) -> auto& { return c.run.look_ahead; }, parse_look_ahead),
      named(
          {"message", "--message", "full|int8|int4|ternary|auto",
           "send updates in few bits; what rounding leaves goes into a worker's next update, so "
           "that nothing is lost and all replicas stay the same; auto: as many bits as the network "
           "carries in time (default: full)"},
          [](auto& c) -> auto& { return c.run.message; }, parse_message_format),
      count(
          "batch", "--batch", "samples per gradient; 0 is the whole data set",
          [](auto& c) -> auto& { return c.run.batch; }, 0),
      {"sampling", "--sampling", Setting::Kind::value, "own|shards|independent|dirichlet:ALPHA",
       "what workers draw from: own (default), each from the whole data set in an order of its "
       "own; independent, every sample from the whole data set with replacement, which the proofs "
       "with noise need; shards, each from a fixed share, whose weight in what is minimised is "
       "then the share of gradients that its worker makes; dirichlet, shares that are skewed by "
       "label, the more the smaller ALPHA",
       [](Config& c, const std::string& v) {
         c.run.sampling = parse_sampling(v);
         c.sampling_given = true;
       },
       [](const Config& c) { return std::optional(quoted(to_string(c.run.sampling))); }},
      place(
          {"seed", "--seed", "N", "seed of everything that is drawn"},
          [](auto& c) -> auto& { return c.run.seed; },
          [](const std::string& v) {
            return parse_whole(v, std::numeric_limits<std::int64_t>::max());
          },
          [](std::uint64_t seed) { return std::to_string(seed); }),
  };
}

std::vector<Setting> topology_settings() {
  return {
      place(
          {"topology.kind", "--topology", fmt::format("{}", fmt::join(topology_names(), "|")),
           "who sends to whom"},
          [](auto& c) -> auto& { return c.run.topology; }, known_topology,
          [](const std::string& v) { return quoted(place_from_anywhere(v)); }),
      named(
          {"topology.relay", "--relay", "arrival|apply|none|mesh|tree[:K]|auto",
           "when foreign gradients are passed on (default: none on the full graph, arrival "
           "elsewhere); or the links themselves: mesh, everybody sends to everybody; tree, workers "
           "with K (4) children each pass on sums; auto, a tree where cards cannot carry a mesh of "
           "more than 8"},
          [](auto& c) -> auto& { return c.run.relay; }, parse_relay),
  };
}

std::vector<Setting> budget_settings() {
  return {
      place(
          {"budget.gradients", "--gradients", "N[,N...]",
           "gradients per worker: one number, or one for each worker"},
          [](auto& c) -> auto& { return c.run.gradients; }, parse_gradients, show_gradients),
      count(
          "budget.total_gradients", "--total-gradients", "gradients of all workers together",
          [](auto& c) -> auto& { return c.run.total_gradients; }, 1),
      real(
          "budget.epochs", "--epochs", "passes over the data by all workers together",
          [](auto& c) -> auto& { return c.run.epochs; }),
      duration(
          "budget.max_time", "--max-time", "stop computing after this time (30s, 5min)",
          [](auto& c) -> auto& { return c.run.max_time; }),
      real(
          "budget.target_error", "--target-error",
          "stop when every worker's mean gradient norm over its last 30 models is at most this",
          [](auto& c) -> auto& { return c.run.target_error; }),
      place(
          {"budget.target_loss", "--target-loss", "X",
           "stop when every worker's mean loss over its last 30 mini-batches is at most this"},
          [](auto& c) -> auto& { return c.run.target_loss; }, parse_real, show_real),
  };
}

std::vector<Setting> pace_settings() {
  return {
      repeatable(
          {"pace.slow", "--slow", "WORKER:FACTOR",
           "emulate a slow worker: each gradient takes FACTOR times as long (repeatable)"},
          [](auto& c) -> auto& { return c.run.slow; }, parse_slow, show_slow),
      place(
          {"pace.speeds", "--speeds", "lognormal:SIGMA|pareto:ALPHA|FILE",
           "how fast workers are against each other: drawn for each from the seed (times per "
           "gradient lognormal around the usual one, or at least as long with a heavy tail), or a "
           "file with a speed per line"},
          [](auto& c) -> auto& { return c.speeds; }, Speeds::parse,
          [](const Speeds& speeds) {
            return quoted(speeds.are_drawn() ? speeds.text() : from_anywhere(speeds.text()));
          }),
      count(
          "pace.in_flight", "--in-flight",
          "buffers of a worker for its own gradients before those that wait for workers behind "
          "are folded (default: what fits into 2 GiB, 8 to 128)",
          [](auto& c) -> auto& { return c.run.in_flight; }, 1),
  };
}

std::vector<Setting> guard_settings() {
  return {
      place(
          {"guard.on_divergence", "--on-divergence", "stop|halve",
           "when the loss runs away: stop with the last good model, or halve the step size of "
           "the worker that sees it"},
          [](auto& c) -> auto& { return c.run.on_divergence; }, parse_on_divergence,
          [](OnDivergence v) { return quoted(v == OnDivergence::stop ? "stop" : "halve"); }),
      real(
          "guard.L", "--L",
          "smoothness of the objective, for the certificate; by default its closed form",
          [](auto& c) -> auto& { return c.run.smoothness; }),
      flag(
          "guard.measure_gradients", "--measure-gradients",
          "evaluate the full gradient at every model, and hold the sums against the bounds",
          [](auto& c) -> auto& { return c.run.measure_gradients; }),
  };
}

std::vector<Setting> rule_settings() {
  return {
      named(
          {"rule.kind", "--rule", "sgd|momentum|nesterov|adam",
           "what the origin makes of a gradient"},
          [](auto& c) -> auto& { return c.run.rule.kind; }, parse_rule),
      place(
          {"rule.momentum", "--momentum", "X", "mu of momentum and nesterov (default: 0.9)"},
          [](auto& c) -> auto& { return c.run.rule.momentum; }, parse_real, show_real),
      place(
          {"rule.beta1", "--beta1", "X", "of adam: decay of the mean (default: 0.9)"},
          [](auto& c) -> auto& { return c.run.rule.beta1; }, parse_real, show_real),
      place(
          {"rule.beta2", "--beta2", "X", "of adam: decay of the mean square (default: 0.999)"},
          [](auto& c) -> auto& { return c.run.rule.beta2; }, parse_real, show_real),
      place(
          {"rule.weight_decay", "--weight-decay", "X",
           "pull of the model towards zero: L2, decoupled with adam (AdamW)"},
          [](auto& c) -> auto& { return c.run.rule.weight_decay; }, parse_not_negative, show_real),
      place(
          {"rule.clip", "--clip", "X", "scale gradients with a larger norm down to this norm"},
          [](auto& c) -> auto& { return c.run.rule.clip; }, parse_real, show_real),
      {"rule.schedule", "--schedule", Setting::Kind::value, "KIND",
       "of the step size, in gradients of all workers together: constant, step:EVERY:FACTOR, "
       "cosine[:TOTAL[:FLOOR]], or cooldown[:TOTAL[:SHARE]], which falls to 0 in the last SHARE "
       "(0.3) of the run and comes with --lr auto where nothing else is said",
       [](Config& c, const std::string& v) {
         set_schedule(c.run.rule.schedule, v);
         c.schedule_given = true;
       },
       show_schedule},
      place(
          {"rule.warmup", "--warmup", "N",
           "let the step size rise over the first N gradients of all workers together"},
          [](auto& c) -> auto& { return c.run.rule.schedule.warmup; }, parse_not_negative,
          show_real),
  };
}

}  // namespace dasgd::config
