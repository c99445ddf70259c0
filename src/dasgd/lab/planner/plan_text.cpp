#include "dasgd/lab/planner/plan_text.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dasgd {
namespace {

std::string loss_of(const NetworkRow& row) {
  return std::isfinite(row.loss) ? fmt::format("{:.3g} %", 100 * row.loss) : "diverges";
}

std::string line_of(const PlannedRow& planned, bool recommended) {
  const NetworkRow& row = planned.row;
  const Exchange of_rival{row.way, "-", "-"};
  const Exchange& how = planned.exchange ? *planned.exchange : of_rival;
  const std::string head = fmt::format("{} {:<14}{:<9}{:<12}", recommended ? "*" : " ", how.relay,
                                       how.message, how.look_ahead);
  if (!row.was_run()) return head + time_of(row) + "\n";
  return head + fmt::format("{:>9}{:>12.4g}{:>14.4g}{:>15}{:>11}\n",
                            row.S_avg ? fmt::format("{:.4g}", *row.S_avg) : "-",
                            row.card_bytes_per_second / 1e6, row.gradients_per_second, time_of(row),
                            loss_of(row));
}

nlohmann::ordered_json json_of(const PlannedRow& planned) {
  const NetworkRow& row = planned.row;
  nlohmann::ordered_json json{{"name", planned.name()}};
  if (planned.exchange) {
    json["relay"] = planned.exchange->relay;
    json["message"] = planned.exchange->message;
    json["look_ahead"] = planned.exchange->look_ahead;
  } else {
    json["rival"] = row.way;
  }
  if (!row.was_run()) {
    json["left_out"] = row.left_out;
    return json;
  }
  json["eta"] = row.eta;
  json["S_avg"] = row.S_avg.value_or(NAN);  // written as null, like the next
  json["card_bytes_per_second"] = row.card_bytes_per_second;
  json["gradients_per_second"] = row.gradients_per_second;
  json["reached"] = row.reached;
  json["seconds"] = row.seconds;
  json["loss"] = row.loss;
  return json;
}

}  // namespace

std::string table_of(const Plan& plan) {
  std::string text =
      fmt::format("  {:<14}{:<9}{:<12}{:>9}{:>12}{:>14}{:>15}{:>11}\n", "relay", "message",
                  "look-ahead", "S", "card MB/s", "gradients/s", "time to goal", "loss then");
  for (std::size_t k = 0; k < plan.rows.size(); ++k)
    text += line_of(plan.rows[k], plan.recommended == k);
  return text;
}

std::string recommendation_of(const Plan& plan, const ToFlags& to_flags) {
  if (!plan.recommended) return "recommended: nothing; no setting of DASGD was simulated\n";
  const PlannedRow& best = plan.rows[*plan.recommended];
  std::string text =
      fmt::format("recommended: {}   ({}", to_flags(*best.exchange), time_of(best.row));
  for (const PlannedRow& planned : plan.rows) {
    if (planned.exchange || !planned.row.was_run()) continue;
    text += fmt::format(
        "; {} {}{}", planned.row.way, time_of(planned.row),
        planned.row.reached && is_better(planned.row, best.row, plan_tie) ? ", faster here" : "");
  }
  return text + ")\n";
}

std::string to_json(const Plan& plan, const NetworkCase& network, const std::string& simulated_with,
                    const ToFlags& to_flags) {
  nlohmann::ordered_json json{
      {"network",
       {{"workers", network.workers},
        {"numbers", network.numbers},
        {"number_bytes", network.number_bytes},
        {"card_bytes_per_second", network.card ? nlohmann::ordered_json(*network.card) : nullptr},
        {"latency_s", static_cast<double>(network.latency) * 1e-9},
        {"gradient_s", network.seconds_per_gradient()}}},
      {"simulated_with", simulated_with},
      {"rows", nlohmann::ordered_json::array()},
      {"recommended", nullptr}};
  for (const PlannedRow& planned : plan.rows) json["rows"].push_back(json_of(planned));
  if (plan.recommended) {
    const PlannedRow& best = plan.rows[*plan.recommended];
    json["recommended"] = json_of(best);
    json["recommended"]["flags"] = to_flags(*best.exchange);
  }
  return json.dump(2) + "\n";
}

}  // namespace dasgd
