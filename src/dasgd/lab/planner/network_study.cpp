#include "dasgd/lab/planner/network_study.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dasgd/base/parallel.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/lab/planner/plan.hpp"
#include "dasgd/lab/planner/stand_in.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

constexpr double Mbit = 1e6 / 8;

const std::vector<std::string> rivals{"minibatch", "local-sgd", "diloco:adam=0",
                                      "sparseloco:adam=0"};

struct Task {
  NetworkCase network;
  std::string way;
  const NetworkStudy::Part* part;
};

std::vector<Task> tasks_of(const NetworkStudy& study) {
  std::vector<Task> tasks;
  for (const NetworkStudy::Part& part : study.parts)
    for (const std::size_t workers : part.workers)
      for (const double numbers : part.numbers)
        for (const double card : part.cards) {
          const NetworkCase network{.workers = workers,
                                    .numbers = numbers,
                                    .card = card,
                                    .compute = TimeModel::constant(study.compute)};
          for (const std::string& way : part.ways) tasks.push_back({network, way, &part});
        }
  return tasks;
}

// So many gradients of each worker without a card's end.
constexpr double gradients_of_a_rate = 40;

NetworkRate rate_of(std::size_t workers, const std::string& relay, double card,
                    const NetworkStudy& study) {
  const StandIn objective(64, 256);
  TrainOptions options{.workers = workers, .eta = 1e-6};
  options.batch = 1;
  options.stop = study.stop;
  if (relay != "mesh") options.topology = relay;
  options.max_time = std::chrono::nanoseconds(
      static_cast<Nanoseconds>(gradients_of_a_rate * static_cast<double>(study.compute)));
  VirtualWorld world;
  world.compute = TimeModel::constant(study.compute);
  const auto gradients_per_second = [&] {
    std::uint64_t gradients = 0;
    const Observer<float> observer{study.compute / 4, [&](const Instant<float>& instant) {
                                     gradients = instant.gradients;
                                     return false;
                                   }};
    if (run_simulation<float>(objective, options, world, &observer).summary.stop_reason ==
        StopReason::interrupted)
      throw ContestInterrupted("interrupted");
    return static_cast<double>(gradients) /
           (gradients_of_a_rate * static_cast<double>(study.compute) * 1e-9);
  };
  NetworkRate rate{workers, relay, card};
  rate.unlimited = gradients_per_second();
  const auto model_bytes = static_cast<double>(objective.dimension() * sizeof(float));
  world.nic = card * 1e6 / (static_cast<double>(study.compute) * 1e-9);
  world.stands_for = 1e6 / model_bytes;  // a model of a megabyte
  rate.gradients_per_second = gradients_per_second();
  return rate;
}

nlohmann::ordered_json json_of(const NetworkCell& cell) {
  const NetworkRow& row = cell.row;
  nlohmann::ordered_json json{{"workers", cell.network.workers},
                              {"numbers", cell.network.numbers},
                              {"card_Mbit_per_second", *cell.network.card / Mbit},
                              {"way", short_name(row.way)}};
  if (!row.was_run()) {
    json["not_simulated"] = row.left_out;
    return json;
  }
  json["reached"] = row.reached;
  json["seconds"] = row.seconds;
  json["S_avg"] = row.S_avg.value_or(NAN);  // written as null, like losses without end
  json["busiest_card_Mbit_per_second"] = row.card_bytes_per_second / Mbit;
  json["gradients_per_second"] = row.gradients_per_second;
  json["loss"] = row.loss;
  json["eta"] = row.eta;
  return json;
}

using Case = std::pair<std::size_t, double>;  // workers, numbers

PlotPanel panel_of(const NetworkFindings& findings, const Case& which) {
  PlotPanel panel{fmt::format("{} workers, d = {}", which.first,
                              show_count(static_cast<std::uint64_t>(which.second))),
                  "card, Mbit/s",
                  "seconds to the goal",
                  {}};
  panel.log_x = panel.log_y = true;
  std::map<std::string, PlotSeries> series;
  std::vector<std::string> order;
  for (const NetworkCell& cell : findings.cells) {
    if (Case(cell.network.workers, cell.network.numbers) != which) continue;
    const std::string name = short_name(cell.row.way);
    if (series.try_emplace(name, PlotSeries{name, {}, {}, {}}).second) order.push_back(name);
    if (!cell.row.reached) continue;
    series[name].x.push_back(*cell.network.card / Mbit);
    series[name].y.push_back(cell.row.seconds);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    PlotSeries& line = series[order[k]];
    line.look = order[k].starts_with("dasgd") ? PlotSeries::Look::line : PlotSeries::Look::dashed;
    line.colour = line.marker = k;
    if (!line.x.empty()) panel.series.push_back(std::move(line));
  }
  return panel;
}

}  // namespace

std::string short_name(const std::string& way) {
  for (const std::string rival : {"diloco", "sparseloco"})
    if (way.starts_with(rival)) return rival;
  if (!way.starts_with("dasgd")) return way;
  const auto value_of = [&](const std::string& key, const std::string& usual) {
    const std::size_t at = way.find(key + "=");
    if (at == std::string::npos) return usual;
    const std::string rest = way.substr(at + key.size() + 1);
    const std::size_t next = rest.find(":message");
    return next == std::string::npos ? rest : rest.substr(0, next);
  };
  return "dasgd, " + value_of("relay", "mesh") + ", " + value_of("message", "full");
}

std::vector<std::string> NetworkStudy::all_ways() {
  std::vector<std::string> settings;
  for (const char* relay : {"mesh", "tree:4"})
    for (const char* message : {"full", "int8", "int4"})
      settings.push_back(Exchange{relay, message}.way());
  settings.insert(settings.end(), rivals.begin(), rivals.end());
  return settings;
}

NetworkStudy NetworkStudy::quick() {
  const std::vector<double> cards{100 * Mbit, 1000 * Mbit, 10'000 * Mbit};
  NetworkStudy study;
  const NetworkEffort effort{.applications = 4e5, .gradients = 300, .steps = 3, .further = 3};
  study.parts = {{{16}, {93e3, 25e6}, cards, effort, 0.25},
                 {{64}, {25e6}, {1000 * Mbit}, effort, 0.5}};
  study.rate_workers = {4, 16};
  return study;
}

NetworkStudy NetworkStudy::full() {
  const std::vector<double> cards{100 * Mbit, 1000 * Mbit, 10'000 * Mbit},
      numbers{93e3, 11e6, 25e6, 124e6};
  NetworkStudy study;
  study.parts = {
      {{16, 64},
       numbers,
       cards,
       {.applications = 6e5, .gradients = 300, .steps = 3, .further = 3},
       0.5},
      {{256},
       numbers,
       cards,
       {.applications = 4e6, .gradients = 300, .steps = 1, .further = 2},
       0.35},
  };
  // A run is a minute or two: steps of DASGD are tried only near those that were found by hand.
  const std::vector<std::string> trees{Exchange{"tree:4", "int8"}.way(),
                                       Exchange{"tree:4", "int4"}.way()};
  const NetworkEffort near{.applications = 3.7e8, .gradients = 300, .steps = 1, .further = 0},
      wide{.applications = 3.7e8, .gradients = 300, .steps = 3, .further = 3};
  for (const auto& [card, middle] : {std::pair(1000 * Mbit, 0.1), std::pair(10'000 * Mbit, 1.0)}) {
    study.parts.push_back({{1000}, {25e6}, {card}, near, middle, trees});
    study.parts.push_back({{1000}, {25e6}, {card}, wide, 0.5, rivals});
  }
  study.rate_workers = {4, 8, 16, 32, 64};
  return study;
}

NetworkFindings study_networks(const NetworkStudy& study,
                               const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::vector<Task> tasks = tasks_of(study);
  const StandIn objective;
  const Goal goal{Goal::Kind::loss, study.goal * objective.loss(objective.start())};
  NetworkFindings findings;
  findings.cells.resize(tasks.size());
  std::atomic<std::size_t> finished{0};
  in_parallel(tasks.size(), study.threads, [&](std::size_t k) {
    const std::size_t i = tasks.size() - 1 - k;  // large ones first
    const Task& task = tasks[i];
    if (study.stop.stop_requested()) throw ContestInterrupted("interrupted");
    NetworkEffort effort = task.part->effort;
    effort.stop = study.stop;
    const double middle = task.part->middle / static_cast<double>(task.network.workers);
    findings.cells[i] = {task.network,
                         simulate_way(objective, task.network, goal, task.way, middle, effort)};
    progress(++finished, tasks.size());
  });
  for (const std::size_t workers : study.rate_workers)
    for (const char* relay : {"mesh", "tree:4"})
      for (const double card : {1.0, 0.1, 0.01})
        findings.rates.push_back(rate_of(workers, relay, card, study));
  return findings;
}

std::string to_csv(const NetworkFindings& findings) {
  std::string text =
      "workers,numbers,card_Mbit_per_second,way,reached,seconds,S_avg,busiest_card_Mbit_per_second,"
      "gradients_per_second,loss,eta,not_simulated\n";
  for (const NetworkCell& cell : findings.cells) {
    const NetworkRow& row = cell.row;
    text += fmt::format("{},{},{},\"{}\",", cell.network.workers, cell.network.numbers,
                        *cell.network.card / Mbit, short_name(row.way));
    if (row.was_run())
      text += fmt::format("{},{},{},{},{},{},{},\n", row.reached, row.seconds,
                          row.S_avg ? fmt::format("{}", *row.S_avg) : "",
                          row.card_bytes_per_second / Mbit, row.gradients_per_second, row.loss,
                          row.eta);
    else
      text += fmt::format(",,,,,,,\"{}\"\n", row.left_out);
  }
  return text;
}

std::string to_json(const NetworkFindings& findings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NetworkCell& cell : findings.cells) all.push_back(json_of(cell));
  for (const NetworkRate& rate : findings.rates)
    all.push_back({{"workers", rate.workers},
                   {"way", "dasgd, " + rate.relay + ", full"},
                   {"card_of_thin_nic", rate.card},
                   {"gradients_per_second", rate.gradients_per_second},
                   {"of_unlimited", rate.ratio()}});
  return all.dump(2) + "\n";
}

std::string to_svg(const NetworkFindings& findings) {
  std::set<Case> cases;
  std::set<double> numbers;
  for (const NetworkCell& cell : findings.cells) {
    cases.emplace(cell.network.workers, cell.network.numbers);
    numbers.insert(cell.network.numbers);
  }
  std::vector<PlotPanel> panels;
  for (const Case& one : cases) panels.push_back(panel_of(findings, one));
  return plot_svg(panels, numbers.size());
}

}  // namespace dasgd
