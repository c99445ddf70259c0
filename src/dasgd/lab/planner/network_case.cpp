#include "dasgd/lab/planner/network_case.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "dasgd/core/message_format.hpp"
#include "dasgd/lab/referee/contest/model_judge.hpp"
#include "dasgd/lab/referee/contest/run_one.hpp"
#include "dasgd/lab/referee/tuning.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/ring_cost.hpp"

namespace dasgd {
namespace {

template <typename Real>
ContestWorld world_of(const NetworkCase& network, const NetworkEffort& effort,
                      const Objective<Real>& objective) {
  ContestWorld result{.name = "network"};
  TrainOptions& options = result.options;
  options.workers = network.workers;
  options.batch = network.batch;
  options.max_time = std::chrono::nanoseconds(time_given(network, effort));
  options.stop = effort.stop;
  result.world.compute = network.compute;
  result.world.latency = TimeModel::constant(network.latency);
  result.world.nic = network.card;
  result.world.stands_for =
      network.model_bytes() / (static_cast<double>(objective.dimension()) * sizeof(Real));
  return result;
}

// Some seconds of simulation.
constexpr double most_messages = 5e6;
// Each keeps a sum and a set of names: some gigabytes.
constexpr double most_links = 300'000;

// Messages of all cards while everybody has this time.
double messages_of_a_mesh(const NetworkCase& network, MessageFormat format, double seconds) {
  const auto n = static_cast<double>(network.workers);
  const auto bytes = static_cast<double>(
      message_bytes(format, NumberFormat::of_float, static_cast<std::size_t>(network.numbers), 1));
  const double wanted = (n - 1) / network.seconds_per_gradient(),
               possible = network.card ? *network.card / bytes : wanted;
  return n * seconds * std::min(wanted, possible);
}

std::string why_left_out(const NetworkCase& network, const ChosenRival& way,
                         const NetworkEffort& effort, double seconds) {
  if (effort.time_is_up()) return "the time for simulations was over";
  if (way.kind.name != dasgd_rival || way.texts.contains("relay")) return "";
  const auto message = way.texts.find("message");
  const double messages = messages_of_a_mesh(
      network,
      message == way.texts.end() ? MessageFormat::full : parse_message_format(message->second),
      seconds);
  if (messages > most_messages)
    return fmt::format("{:.0f} million messages are too many to simulate", messages / 1e6);
  const auto n = static_cast<double>(network.workers);
  if (n * (n - 1) > most_links)
    return fmt::format("{:.1f} million links are too many to simulate", n * (n - 1) / 1e6);
  return "";
}

bool better(const ContestRun& a, const ContestRun& b) {
  if (a.time_to_goal() != b.time_to_goal()) return a.time_to_goal() < b.time_to_goal();
  return a.loss_mean < b.loss_mean;
}

const ContestRun& median_run(std::vector<ContestRun>& runs) {
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end(), better);
  return *middle;
}

NetworkRow row_of(const ContestRun& run, double loss_at_start) {
  const double seconds = std::max(run.time_s, 1e-9);
  return {.way = run.rival,
          .eta = run.eta,
          .reached = run.reached,
          .seconds = run.time_s,
          .S_avg = run.S_avg,
          .card_bytes_per_second = static_cast<double>(run.bytes_busiest_node) / 2 / seconds,
          .gradients_per_second = static_cast<double>(run.gradients_used) / seconds,
          .loss = run.loss_mean / loss_at_start};
}

}  // namespace

double NetworkCase::seconds_per_gradient() const {
  return static_cast<double>(compute.usual()) * 1e-9;
}

Nanoseconds time_given(const NetworkCase& network, const NetworkEffort& effort) {
  const auto n = static_cast<double>(network.workers);
  const double gradient = network.seconds_per_gradient();
  VirtualWorld world;
  world.latency = TimeModel::constant(network.latency);
  world.nic = network.card;
  const auto ring =
      static_cast<double>(ring_cost(world, network.workers, network.model_bytes(), 0).takes) * 1e-9;
  const double seconds =
      std::min(effort.gradients * gradient + 40 * ring, effort.applications / (n * n) * gradient);
  return static_cast<Nanoseconds>(std::max(seconds, gradient) * 1e9);
}

template <typename Real>
NetworkRow simulate_way(const Objective<Real>& objective, const NetworkCase& network,
                        const Goal& goal, const std::string& way, double middle,
                        const NetworkEffort& effort) {
  const ChosenRival rival = choose_rival(way, all_rivals());
  const ContestWorld world = world_of(network, effort, objective);
  const double seconds = static_cast<double>(world.options.max_time->count()) * 1e-9;
  if (std::string why = why_left_out(network, rival, effort, seconds); !why.empty())
    return {.way = way, .left_out = std::move(why)};
  const auto every = static_cast<Nanoseconds>(network.seconds_per_gradient() * 1e9 / 2);
  Goal of_one = goal;
  of_one.of_last_worker = true;
  const Contest contest{.goal = of_one,
                        .every = std::max<Nanoseconds>(every, 1),
                        .tuning = {.steps = effort.steps,
                                   .seeds = effort.seeds,
                                   .further = effort.further,
                                   .patience = 1.5},
                        .brief = true,
                        .measured_S = 0};
  ModelJudge<Real> model_judge(objective);
  const double loss_at_start = objective.loss(objective.start());
  std::map<double, std::vector<ContestRun>> runs;  // by step size, one for each seed
  const auto try_step = [&](double eta, std::size_t seed, std::optional<Nanoseconds> most) {
    if (!runs.empty() && effort.time_is_up()) return ContestRun{.loss_mean = INFINITY};
    ContestRun run = run_one(model_judge, contest, rival, world,
                             {.eta = eta, .seed = 1 + seed, .thorough = false, .most = most});
    // Of steps that are all too large the smallest is where to go on.
    if (!(run.loss_mean < loss_at_start)) run.loss_mean = INFINITY;
    runs[eta].push_back(run);
    return run;
  };
  ContestRow tuned;
  tune(contest.tuning, contest.goal, middle, try_step, tuned);
  const double time =
      runs.contains(tuned.eta) ? median_run(runs[tuned.eta]).time_to_goal() : INFINITY;
  const auto most =
      std::isfinite(time) ? std::optional(static_cast<Nanoseconds>(1.2e9 * time)) : std::nullopt;
  for (const double eta : {tuned.eta * std::sqrt(2), tuned.eta / std::sqrt(2)})
    for (std::size_t seed = 0; seed < effort.seeds; ++seed) try_step(eta, seed, most);
  std::vector<ContestRun> medians;
  for (auto& [eta, of_seeds] : runs) medians.push_back(median_run(of_seeds));
  return row_of(*std::ranges::min_element(medians, better), loss_at_start);
}

template NetworkRow simulate_way(const Objective<float>&, const NetworkCase&, const Goal&,
                                 const std::string&, double, const NetworkEffort&);
template NetworkRow simulate_way(const Objective<double>&, const NetworkCase&, const Goal&,
                                 const std::string&, double, const NetworkEffort&);

std::string time_of(const NetworkRow& row) {
  if (!row.was_run()) return "not simulated: " + row.left_out;
  return fmt::format("{}{:.4g} s", row.reached ? "" : ">= ", row.seconds);
}

bool is_better(const NetworkRow& a, const NetworkRow& b, double tie) {
  if (a.was_run() != b.was_run()) return a.was_run();
  if (!a.was_run()) return false;
  if (a.reached != b.reached) return a.reached;
  return a.reached ? a.seconds < b.seconds * (1 - tie) : a.loss < b.loss * (1 - tie);
}

}  // namespace dasgd
