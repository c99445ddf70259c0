#include "dasgd/settings/tasks/prediction.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dasgd/core/error.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/settings/recorded_run.hpp"

namespace dasgd::config {
namespace {

using nlohmann::json;

double number(const json& summary, const char* key, const std::string& directory) {
  const auto at = summary.find(key);
  if (at == summary.end() || !at->is_number())
    throw InputError(fmt::format("{}/summary.json: has no number \"{}\"", directory, key));
  return at->get<double>();
}

}  // namespace

Prediction compare_with_run(const std::string& directory, const RunSummary& simulated) {
  const json measured = read_summary(directory);
  Nanoseconds end = 0;
  for (const TraceLine& a : read_sound_trace(directory + "/trace.jsonl"))
    end = std::max(end, a.time.value_or(0));
  const auto per_second = [](double gradients, double seconds) {
    return seconds > 0 ? gradients / seconds : 0;
  };
  Prediction prediction{
      {{"gradients_per_second",
        per_second(static_cast<double>(simulated.gradients), simulated.virtual_seconds.value_or(0)),
        per_second(number(measured, "gradients", directory), static_cast<double>(end) * 1e-9)},
       {"S_avg", simulated.staleness.S_avg, number(measured, "S_avg", directory)}}};
  if (simulated.stop_reason == StopReason::target &&
      measured.value("stop_reason", "") == "target") {
    const auto times = measured.value("time", std::vector<Nanoseconds>());
    if (times.empty()) return prediction;
    prediction.lines.push_back(
        {"seconds_to_target",
         static_cast<double>(*std::max_element(simulated.time.begin(), simulated.time.end())) *
             1e-9,
         static_cast<double>(*std::max_element(times.begin(), times.end())) * 1e-9});
  }
  return prediction;
}

std::string to_text(const Prediction& prediction, const std::string& directory) {
  std::string text = fmt::format("  {:<22}{:>12}{:>12}{:>8}   ({})\n", "", "predicted", "measured",
                                 "ratio", directory);
  for (const auto& line : prediction.lines)
    text += fmt::format("  {:<22}{:>12.4f}{:>12.4f}{:>8.3f}\n", line.name, line.predicted,
                        line.measured, line.ratio());
  return text;
}

std::string to_json(const Prediction& prediction) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& line : prediction.lines)
    object[line.name] = {{"predicted", json_number(line.predicted)},
                         {"measured", json_number(line.measured)},
                         {"ratio", json_number(line.ratio())}};
  return object.dump(2) + "\n";
}

}  // namespace dasgd::config
