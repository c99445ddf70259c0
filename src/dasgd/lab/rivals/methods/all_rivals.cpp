#include "dasgd/lab/rivals/methods/all_rivals.hpp"

#include <algorithm>
#include <utility>

#include "dasgd/base/units.hpp"
#include "dasgd/core/look_ahead.hpp"
#include "dasgd/core/message_format.hpp"
#include "dasgd/lab/rivals/methods/ad_psgd.hpp"
#include "dasgd/lab/rivals/methods/d_psgd.hpp"
#include "dasgd/lab/rivals/methods/eager.hpp"
#include "dasgd/lab/rivals/methods/easgd.hpp"
#include "dasgd/lab/rivals/methods/fragile.hpp"
#include "dasgd/lab/rivals/methods/hogwild.hpp"
#include "dasgd/lab/rivals/methods/local_sgd.hpp"
#include "dasgd/lab/rivals/methods/minibatch.hpp"
#include "dasgd/lab/rivals/methods/server_policies.hpp"
#include "dasgd/lab/rivals/methods/sgp.hpp"
#include "dasgd/lab/rivals/methods/sparse_loco.hpp"
#include "dasgd/lab/rivals/methods/swift.hpp"
#include "dasgd/lab/rivals/rival_rule.hpp"
#include "dasgd/rules/rule.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd {
namespace {

using namespace rivals;

const char* const alone = "n = 1: SGD, bit for bit";

// Shares the budget of tuning with the step; 0 stands for a share of the workers.
RivalParameter tuned(RivalParameter parameter, double of_workers = 0) {
  parameter.of_workers = of_workers;
  parameter.tuned = true;
  return parameter;
}

std::vector<RivalParameter> with_rule(std::vector<RivalParameter> parameters,
                                      const std::string& usual = "sgd") {
  for (RivalParameter& parameter : rule_parameters(usual))
    parameters.push_back(std::move(parameter));
  return parameters;
}

template <typename Policy>
RivalKind served(RivalKind kind, Policy policy) {
  kind.exchanges = "gradients to a server, models back";
  kind.limits.insert(kind.limits.begin(), alone);
  return made_by(std::move(kind),
                 [policy](const auto& setup) { return make_served(setup, policy(setup)); });
}

std::vector<RivalKind> synchronous() {
  return {
      made_by(
          {.name = "minibatch",
           .summary = "synchronous SGD; with backup = b the b slowest of a round are dropped",
           .exchanges = "gradients, ring all-reduce (backup > 0: through a server)",
           .parameters = with_rule({{"backup", "workers whose gradients a round does without", 0}}),
           .limits = {alone, "one gradient of all batches joined",
                      "round time: the m-th order statistic of compute times",
                      "all-reduce time: 2 (n - 1) (latency + bytes / (n bandwidth))",
                      "m = 1: rennala with B = 1"},
           .all_reduces = true},
          [](const auto& setup) { return make_minibatch(setup); }),
  };
}

std::vector<RivalKind> with_a_server() {
  return {
      served({.name = "asgd",
              .summary = "asynchronous SGD with a server",
              .parameters = with_rule({}),
              .limits = {"sum of delays: updates x (n - 1)",
                         "largest stable eta L for n equal constant clocks: 2 sin(pi / (4 n - 2))",
                         "its points: those of DASGD on the full graph without latency"}},
             [](const auto&) { return ServerPolicy{}; }),
      served({.name = "delay-adaptive",
              .summary = "a gradient later than n is worth n / tau (Mishchenko et al. 2022)",
              .limits = {"asgd while no delay is above n"}},
             [](const auto& setup) { return delay_adaptive(setup.workers()); }),
      served({.name = "drop-late",
              .summary = "a gradient later than tau is dropped (Koloskova et al. 2022, Theorem 8)",
              .parameters = {tuned({"tau", "the latest that counts; 0: n", 0}, 1)},
              .limits = {"asgd while no delay is above tau"}},
             [](const auto& setup) { return drop_late(setup.count("tau")); }),
      served(
          {.name = "ringmaster",
           .summary = "a gradient R updates late is dropped (Maranjyan et al. 2025)",
           .parameters = {tuned({"R", "delay from which a gradient is dropped; 0: n / 4", 0}, 0.25),
                          {"stop", "1: it is stopped instead, before it is finished", 0, 0, 1}},
           .limits = {"R = 1e9: asgd", "R = 1, stops, fixed speeds: SGD of the fastest worker"}},
          [](const auto& setup) { return ringmaster(setup.count("R"), setup.count("stop") == 1); }),
      served(
          {.name = "rennala",
           .summary = "B gradients at one and the same model make a step (Tyurin, Richtarik 2023)",
           .parameters = {tuned({"B", "gradients of a step; 0: n", 0}, 1),
                          {"stop", "0: late gradients come in and are dropped", 1, 0, 1}},
           .limits = {"B = n, equal speeds, preemption: minibatch", "B = 1: minibatch with m = 1"}},
          [](const auto& setup) { return rennala(setup.count("B"), setup.count("stop") == 1); }),
      served({.name = "fedbuff",
              .summary = "K updates make a step, late ones are worth less (Nguyen et al. 2022)",
              .parameters = {tuned({"K", "updates of a step", 10, 1}),
                             {"H", "local steps of an update", 1, 1},
                             {"server_lr", "share of local steps that the server takes", 0.7, 1e-6,
                              1e6, false},
                             {"momentum", "of the server", 0.9, 0, 0.999, false}},
              .limits = {"K = 1, H = 1, momentum = 0, no delay: asgd"}},
             [](const auto& setup) {
               const std::size_t K = setup.count("K");
               return fedbuff(K, setup.count("H"),
                              setup.eta * static_cast<double>(K) / setup.number("server_lr"),
                              setup.number("momentum"));
             }),
      served({.name = "ssp",
              .summary = "no worker is more than s gradients ahead of the slowest (Ho et al. 2013)",
              .parameters = {tuned({"s", "how far ahead", 3})},
              .limits = {"s = 0, equal speeds: minibatch", "s = 1e9: asgd"}},
             [](const auto& setup) { return stale_synchronous(setup.count("s")); }),
  };
}

std::vector<RivalKind> without_a_server() {
  const auto two_way = [](const char* name) {
    return [name](const Graph& graph, const RivalNumbers&) {
      require_two_way(graph, name);
      return std::string();
    };
  };
  return {
      made_by({.name = "d-psgd",
               .summary = "rounds of mixing with the neighbours (Lian et al. 2017)",
               .exchanges = "models with the neighbours, synchronously",
               .parameters = {{"atc", "1: adapt, then combine", 0, 0, 1},
                              {"ccs", "1: SWIFT's weights instead of Metropolis'", 0, 0, 1}},
               .limits = {alone, "eta = 0: the mean stays, distances shrink by |lambda_2|",
                          "atc, full graph: minibatch",
                          "as published, full graph: x_i - mean = -lr (g_i - mean g)"},
               .on_graph = two_way("d-psgd")},
              [](const auto& setup) { return make_d_psgd(setup); }),
      made_by({.name = "ad-psgd",
               .summary = "averages in pairs while computing goes on (Lian et al. 2018)",
               .exchanges = "models between active and passive workers",
               .limits = {alone, "eta = 0: every average keeps the sum, distances shrink"},
               .on_graph = [](const Graph& graph,
                              const RivalNumbers&) { return describe_sides(graph); }},
              [](const auto& setup) { return make_ad_psgd(setup); }),
      made_by(
          {.name = "swift",
           .summary = "mixes with the newest models that are here (Bornstein et al. 2023)",
           .exchanges = "models to the neighbours, asynchronously",
           .parameters = {tuned({"C", "steps between two averages", 1, 1})},
           .limits = {alone, "lockstep, latency below compute: d-psgd as published, bit for bit",
                      "weights symmetric, rows sum up to 1", "consensus is a fixed point"},
           .on_graph = two_way("swift")},
          [](const auto& setup) { return make_swift(setup); }),
      made_by({.name = "sgp",
               .summary = "models pushed along the one-peer exponential graph (Assran et al. 2019)",
               .exchanges = "half of a model to one peer a round",
               .parameters = {{"overlap", "1: workers do not wait for the peer (OSGP)", 0, 0, 1}},
               .limits = {alone, "weights sum up to n",
                          "eta = 0, n = 2^q: the exact mean after q rounds"}},
              [](const auto& setup) { return make_sgp(setup); }),
      made_by({.name = "fragile",
               .summary = "sums of gradients up a tree, models down (Tyurin, Richtarik 2024)",
               .exchanges = "gradients and models along a tree of the graph",
               .parameters = {tuned({"B", "gradients of a step", 10, 1}),
                              {"pivot", "the root of the tree", 0}},
               .limits = {alone, "star, latency 0, preemption: rennala"},
               .on_graph = two_way("fragile")},
              [](const auto& setup) { return make_fragile(setup); }),
  };
}

// Of those that step locally by AdamW.
std::vector<RivalParameter> with_adamw(std::vector<RivalParameter> parameters) {
  parameters.push_back({"adam", "0: plain own steps", 1, 0, 1});
  parameters.push_back({.name = "rule",
                        .meaning = "of own steps: adamw (unless adam = 0), momentum, nesterov",
                        .usual = 0,
                        .words = {"adamw", "momentum", "nesterov"}});
  parameters.push_back({"inner_momentum", "mu of those", 0.9, 0, 0.999, false});
  return parameters;
}
template <typename Real>
bool steps_by_adamw(const RivalSetup<Real>& setup) {
  return setup.count("adam") == 1 && setup.count("rule") == 0;
}

std::vector<RivalKind> with_local_steps() {
  return {
      made_by({.name = "local-sgd",
               .summary = "H own steps, then the mean of all models (Stich 2019; post-local: T0)",
               .exchanges = "models, ring all-reduce every H steps",
               .parameters = with_rule({tuned({"H", "own steps between two means", 8, 1}),
                                        {"T0", "steps with H = 1 at the beginning", 0}}),
               .limits = {alone, "H = 1: minibatch"},
               .all_reduces = true},
              [](const auto& setup) {
                return make_local(setup, {setup.count("H"), setup.count("T0")});
              }),
      made_by(
          {.name = "diloco",
           .summary = "local AdamW, Nesterov's momentum on the mean (Douillard et al. 2023)",
           .exchanges = "models, ring all-reduce every H steps",
           .parameters = with_adamw({tuned({"H", "own steps between two means", 20, 1}),
                                     {"outer_lr", "of the steps on the mean", 0.7, 1e-6, 10, false},
                                     {"momentum", "of those", 0.9, 0, 0.999, false}}),
           .limits = {"adam = 0, outer_lr = 1, momentum = 0: local-sgd, bit for bit"},
           .all_reduces = true,
           .linear = false},
          [](const auto& setup) {
            return make_local(setup, {setup.count("H"), 0, setup.number("outer_lr"),
                                      setup.number("momentum"), steps_by_adamw(setup)});
          }),
      made_by(
          {.name = "sparseloco",
           .summary = "diloco that sends few numbers in few bits (Sarfi et al. 2025)",
           .exchanges = "the largest numbers of own steps, ring all-gather every H steps",
           .parameters = with_adamw(
               {tuned({"H", "own steps between two means", 30, 1}),
                {"share", "of the numbers of a chunk that are sent", 64.0 / 4096, 1e-6, 1, false},
                {"bits", "of a number that is sent; 0: all", 2, 0, 8},
                {"decay", "what is left of the residual a round later", 0.95, 0, 1, false},
                {"outer_lr", "of the steps on the mean", 1, 1e-6, 10, false}}),
           .limits = {"share = 1, bits = 0: diloco with momentum = 0"},
           .linear = false},
          [](const auto& setup) { return make_sparse_loco(setup, steps_by_adamw(setup)); }),
      made_by(
          {.name = "eager",
           .summary = "diloco whose mean travels while own steps go on (Kale et al. 2025)",
           .exchanges = "sums of own steps, ring all-reduce beside the next ones",
           .parameters = with_rule(
               {tuned({"H", "own steps of a phase", 20, 1}),
                {"outer_lr", "of the steps on the mean", 0.4, 1e-6, 10, false},
                {"outer_momentum", "of those", 0.9, 0, 0.999, false},
                {"own", "weight of own steps until the mean is there; 0: 1 / n", 0, 0, 1, false}},
               "adam"),
           .limits = {"H = 1, outer_lr = 1, outer_momentum = 0, sgd, one step of delay: dasgd",
                      "the same with own = 1: dasgd:look_ahead=1"},
           .all_reduces = true,
           .linear = false},
          [](const auto& setup) { return make_eager(setup); }),
      made_by({.name = "easgd",
               .summary = "workers tied to a centre by a spring (Zhang et al. 2015)",
               .exchanges = "models with a server every tau steps",
               .parameters =
                   with_rule({tuned({"tau", "steps between two exchanges", 4, 1}),
                              {"beta", "n times the strength of the spring", 0.9, 0, 100, false}}),
               .limits = {"beta = 0: independent SGDs",
                          "exchanges keep the sum of all and the centre"}},
              [](const auto& setup) { return make_easgd(setup); }),
  };
}

std::vector<RivalKind> in_shared_memory() {
  return {
      made_by({.name = "hogwild",
               .summary = "threads add to one array without a lock (Recht et al. 2011)",
               .exchanges = "nothing: memory is shared",
               .limits = {alone, "virtual time: asgd without latency, bit for bit"},
               .shares_memory = true},
              [](const auto& setup) { return make_hogwild(setup); }),
  };
}

RivalParameter text(std::string name, std::string meaning, std::string example,
                    std::function<void(const std::string&)> check) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .usual = 0,
          .check = std::move(check),
          .example = std::move(example)};
}

// As in the settings of a run; what is not given is what the comparison's own settings say.
std::vector<RivalParameter> parameters_of_dasgd() {
  return {
      text("rule", "of the workers: sgd, momentum, nesterov or adam", "nesterov",
           [](const auto& v) { parse_rule(v); }),
      text("momentum", "mu of momentum and nesterov", "0.9", [](const auto& v) { parse_real(v); }),
      text("beta2", "of adam", "0.99", [](const auto& v) { parse_real(v); }),
      text("look_ahead", "where workers compute: off, auto, or lambda", "1",
           [](const auto& v) { parse_look_ahead(v); }),
      text("message", "bits of an update: full, int8, int4, ternary", "int8",
           [](const auto& v) { parse_message_format(v); }),
      text("topology", "who sends to whom", "ring",
           [](const auto& v) { require_known_topology(v); }),
      text("relay", "when gradients of others are forwarded: arrival, apply, none", "apply",
           [](const auto& v) { parse_relay(v); })};
}

std::vector<RivalKind> make_all() {
  std::vector<RivalKind> all{{.name = dasgd_rival,
                              .summary = "Algorithm 1 of the paper, by `dasgd simulate` itself",
                              .exchanges = "gradients, to all workers",
                              .parameters = parameters_of_dasgd(),
                              .limits = {"dasgd simulate, byte for byte"}}};
  for (auto group :
       {synchronous(), with_a_server(), without_a_server(), with_local_steps(), in_shared_memory()})
    std::move(group.begin(), group.end(), std::back_inserter(all));
  return all;
}

}  // namespace

const std::vector<RivalKind>& all_rivals() {
  static const std::vector<RivalKind> all = make_all();
  return all;
}

}  // namespace dasgd
