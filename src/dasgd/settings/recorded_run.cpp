#include "dasgd/settings/recorded_run.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/topology/builders.hpp"

namespace dasgd::config {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

Graph graph_of(const std::string& directory) {
  Config config;
  const Command command = command_of(read_summary(directory));
  read_config_file(command, directory + "/config.toml", not_repeated(command), config);
  return build_graph(config.run.topology, config.workers.value_or(2), config.run.seed);
}

}  // namespace

json read_summary(const std::string& directory) {
  const std::string path = directory + "/summary.json";
  std::ifstream file = open_file(path);
  const json summary = parse_json<json>(file);
  if (!summary.is_object()) throw InputError(path + ": cannot be read; a finished run has one");
  return summary;
}

std::vector<TraceLine> read_sound_trace(const std::string& path) {
  if (!fs::exists(path))
    throw InputError(path + ": is not there; record a run with `output.trace`");
  TraceFile trace = read_trace(path);
  if (!trace.malformed.empty())
    throw InputError(
        fmt::format("{}:{}: {}", path, trace.malformed[0].line, trace.malformed[0].what));
  if (trace.applications.empty()) throw InputError(path + ": holds no application");
  return std::move(trace.applications);
}

void read_recorded_config(const std::string& directory, const std::set<std::string>& overridden,
                          Config& config) {
  if (!fs::is_directory(directory)) throw InputError(directory + ": is not a directory");
  std::error_code ignored;
  if (fs::equivalent(directory, config.output.out, ignored))
    throw InputError("`output.out` " + config.output.out + ": would replace the run that it reads");
  const Command command = command_of(read_summary(directory));
  std::set<std::string> skipped = not_repeated(command);
  skipped.insert(overridden.begin(), overridden.end());
  read_config_file(command, directory + "/config.toml", skipped, config);
  for (const char* key : {"pace.compute", "pace.latency", "pace.apply", "pace.start"})
    if (!overridden.contains(key))
      find_setting(Command::simulate, key)->set(config, "replay:" + directory);
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

}  // namespace dasgd::config
