#include "dasgd/lab/planner/plan.hpp"

#include <algorithm>

namespace dasgd {
namespace {

const std::vector<std::string> relays{"mesh", "tree:4", "tree:2"}, messages{"full", "int8", "int4"};

// What is wanted first, should the time be too short for all.
std::vector<Exchange> in_order_of_promise() {
  std::vector<Exchange> all;
  for (const char* relay : {"tree:4", "mesh", "tree:2"})
    for (const char* message : {"int8", "int4", "full"}) all.push_back({relay, message});
  return all;
}

std::size_t place(const PlannedRow& row) {
  if (!row.exchange) return 1000;
  const auto at = [](const std::vector<std::string>& all, const std::string& one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
  };
  return 2 * (at(messages, row.exchange->message) * relays.size() +
              at(relays, row.exchange->relay)) +
         (row.exchange->look_ahead == "auto" ? 0 : 1);
}

}  // namespace

std::string Exchange::way() const {
  std::string text = "dasgd:look_ahead=" + look_ahead;
  if (relay != "mesh") text += ":relay=" + relay;
  if (message != "full") text += ":message=" + message;
  return text;
}

std::string PlannedRow::name() const {
  if (!exchange) return row.way;
  return exchange->relay + ", " + exchange->message + ", look-ahead " + exchange->look_ahead;
}

std::optional<std::size_t> recommended_row(const std::vector<PlannedRow>& rows) {
  const auto candidate = [](const PlannedRow& r) { return r.exchange && r.row.was_run(); };
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (candidate(rows[k]) && (!best || is_better(rows[k].row, rows[*best].row))) best = k;
  for (std::size_t k = 0; best && k < rows.size(); ++k)
    if (candidate(rows[k]) && !is_better(rows[*best].row, rows[k].row, plan_tie)) return k;
  return best;
}

NetworkEffort effort_of_a_plan(std::size_t workers) {
  const auto n = static_cast<double>(workers);
  return {.applications = std::max(6e5, 60 * n * n),
          .gradients = 300,
          .steps = 3,
          .further = 4,
          .seeds = workers <= 16 ? 3u : 1u};
}

template <typename Real>
Plan plan_network(const Objective<Real>& objective, const NetworkCase& network, const Goal& goal,
                  const NetworkEffort& effort, const PlanProgress& progress) {
  const auto settings = in_order_of_promise();
  const std::size_t total = settings.size() + 3;
  Plan plan;
  // A step that suits the settings so far is where the next one begins.
  double middle =
      1 / (objective.known().smoothness.value_or(1) * static_cast<double>(network.workers));
  const auto simulate = [&](const std::optional<Exchange>& exchange, const std::string& way) {
    PlannedRow row{exchange, {.way = way}};
    progress(plan.rows.size(), total, row.name());
    row.row = simulate_way(objective, network, goal, way, middle, effort);
    if (row.row.reached) middle = row.row.eta;
    plan.rows.push_back(std::move(row));
  };
  simulate({}, "minibatch");
  simulate({}, "diloco:adam=0");
  for (const Exchange& exchange : settings) simulate(exchange, exchange.way());
  std::ranges::stable_sort(plan.rows, {}, place);
  if (const auto best = recommended_row(plan.rows)) {
    Exchange without = *plan.rows[*best].exchange;
    without.look_ahead = "off";
    simulate(without, without.way());
    std::ranges::stable_sort(plan.rows, {}, place);
  }
  progress(total, total, "");
  plan.recommended = recommended_row(plan.rows);
  return plan;
}

template Plan plan_network(const Objective<float>&, const NetworkCase&, const Goal&,
                           const NetworkEffort&, const PlanProgress&);
template Plan plan_network(const Objective<double>&, const NetworkCase&, const Goal&,
                           const NetworkEffort&, const PlanProgress&);

}  // namespace dasgd
