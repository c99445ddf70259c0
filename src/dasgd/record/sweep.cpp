#include "dasgd/record/sweep.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using SweepJson = nlohmann::ordered_json;

SweepJson parse_sweep_file(const std::string& path) {
  std::ifstream file = open_file(path);
  return parse_json<SweepJson>(file);
}

}  // namespace

std::string sweep_run_path(const std::string& directory, const std::string& name) {
  return directory + "/runs/" + name;
}

bool is_sweep(const std::string& directory) {
  return std::filesystem::is_regular_file(directory + "/" + sweep_file);
}

std::string to_json(const Sweep& sweep) {
  SweepJson runs = SweepJson::array();
  for (const SweepRun& run : sweep.runs)
    runs.push_back({{"name", run.name}, {"values", run.values}, {"seed", run.seed}});
  return SweepJson{{"engine", sweep.engine}, {"keys", sweep.keys}, {"runs", runs}}.dump(1) + "\n";
}

Sweep read_sweep(const std::string& directory) {
  const std::string path = directory + "/" + sweep_file;
  try {
    const SweepJson json = parse_sweep_file(path);
    Sweep sweep{json.at("engine"), json.at("keys"), {}};
    for (const SweepJson& run : json.at("runs")) {
      sweep.runs.push_back({run.at("name"), run.at("values"), run.at("seed")});
      if (sweep.runs.back().values.size() != sweep.keys.size() ||
          sweep.runs.back().name.find('/') != std::string::npos)
        throw InputError(path + ": is not as dasgd sweep writes it");
    }
    return sweep;
  } catch (const SweepJson::exception&) {
    throw InputError(path + ": is not as dasgd sweep writes it");
  }
}

bool is_finished_run(const std::string& directory) {
  const auto is_file = [&](const char* name) {
    return std::filesystem::is_regular_file(directory + "/" + name);
  };
  if (!is_file("summary.json") || !is_file("metrics.jsonl")) return false;
  const SweepJson summary = parse_sweep_file(directory + "/summary.json");
  if (!summary.is_object()) return false;
  const auto reason = summary.find("stop_reason");
  return reason != summary.end() && reason->is_string() && *reason != "interrupted" &&
         *reason != "failed";
}

}  // namespace dasgd
