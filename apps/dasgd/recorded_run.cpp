#include "recorded_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/record/trace_reader.hpp"
#include "dasgd/topology/builders.hpp"
#include "settings.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read_summary(const std::string& directory) {
  const std::string path = directory + "/summary.json";
  std::ifstream file(path);
  const json summary = json::parse(file, nullptr, false);
  if (!summary.is_object()) throw InputError(path + ": cannot be read; a finished run has one");
  return summary;
}

Command command_of(const json& summary) {
  return summary.contains("virtual_seconds") ? Command::simulate : Command::train;
}

// How long things took is measured, and the output belongs to the new run.
std::set<std::string> not_repeated(Command command) {
  std::set<std::string> keys;
  for (const Setting& setting : settings(command))
    for (const char* section : {"pace.", "chaos.", "output."})
      if (setting.key.starts_with(section)) keys.insert(setting.key);
  keys.erase("pace.in_flight");  // no time, but when folding begins
  return keys;
}

std::vector<TraceLine> read_sound_trace(const std::string& path) {
  if (!fs::exists(path)) throw InputError(path + ": is not there; record a run with --trace");
  TraceFile trace = read_trace(path);
  if (!trace.malformed.empty())
    throw InputError(
        fmt::format("{}:{}: {}", path, trace.malformed[0].line, trace.malformed[0].what));
  if (trace.applications.empty()) throw InputError(path + ": holds no application");
  return std::move(trace.applications);
}

Graph graph_of(const std::string& directory) {
  Config config;
  const Command command = command_of(read_summary(directory));
  read_config_file(command, directory + "/config.toml", not_repeated(command), config);
  return build_graph(config.topology, config.workers.value_or(2), config.seed);
}

double number(const json& summary, const char* key, const std::string& directory) {
  const auto at = summary.find(key);
  if (at == summary.end() || !at->is_number())
    throw InputError(fmt::format("{}/summary.json: has no number \"{}\"", directory, key));
  return at->get<double>();
}

}  // namespace

void read_recorded_config(const std::string& directory, const std::set<std::string>& overridden,
                          Config& config) {
  if (!fs::is_directory(directory)) throw InputError("--from " + directory + ": is no directory");
  std::error_code ignored;
  if (fs::equivalent(directory, config.out, ignored))
    throw InputError("--out " + config.out + ": would replace the run that --from reads");
  const Command command = command_of(read_summary(directory));
  std::set<std::string> skipped = not_repeated(command);
  skipped.insert(overridden.begin(), overridden.end());
  read_config_file(command, directory + "/config.toml", skipped, config);
  const std::string replay = "replay:" + directory;
  const std::vector<std::pair<const char*, std::string WorldText::*>> measured{
      {"pace.compute", &WorldText::compute},
      {"pace.latency", &WorldText::latency},
      {"pace.apply", &WorldText::apply},
      {"pace.start", &WorldText::start}};
  for (const auto& [key, member] : measured)
    if (!overridden.contains(key)) config.world.*member = replay;
}

MeasuredTimes measure_run(const std::string& path) {
  const bool whole_run = fs::is_directory(path);
  const std::string trace_path = whole_run ? path + "/trace.jsonl" : path;
  const auto trace = read_sound_trace(trace_path);
  try {
    if (!whole_run) return measure(trace, [](WorkerId, WorkerId) { return true; });
    const Graph graph = graph_of(path);
    return measure(trace, [&](WorkerId a, WorkerId b) {
      return index(a) < graph.workers() && graph.connected(a, b);
    });
  } catch (const InputError& error) {
    throw InputError(trace_path + ": " + error.what());
  }
}

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
  if (simulated.stop_reason == "target" && measured.value("stop_reason", "") == "target") {
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

void print_prediction(const Prediction& prediction, const std::string& directory) {
  fmt::print("  {:<22}{:>12}{:>12}{:>8}   ({})\n", "", "predicted", "measured", "ratio", directory);
  for (const auto& line : prediction.lines)
    fmt::print("  {:<22}{:>12.4f}{:>12.4f}{:>8.3f}\n", line.name, line.predicted, line.measured,
               line.ratio());
}

std::string to_json(const Prediction& prediction) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& line : prediction.lines)
    object[line.name] = {{"predicted", json_number(line.predicted)},
                         {"measured", json_number(line.measured)},
                         {"ratio", json_number(line.ratio())}};
  return object.dump(2) + "\n";
}

}  // namespace dasgd::app
