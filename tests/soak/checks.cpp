#include "soak/checks.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "support/temporary_directory.hpp"

namespace dasgd::soak {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::read_text;

class Look {
 public:
  Look(const Scenario& scenario, std::string run, bool interrupted)
      : scenario_(scenario),
        run_(std::move(run)),
        interrupted_(interrupted),
        summary_(json::parse(read_text(run_ + "/summary.json"), nullptr, false)) {}

  std::vector<std::string> everywhere() {
    for (const char* name : {"config.toml", "metrics.jsonl", "model.npy"})
      require(fs::is_regular_file(run_ + "/" + name), fmt::format("{} is missing", name));
    require(fs::exists(run_ + "/trace.jsonl") == scenario_.trace, "trace.jsonl is there or is not");
    nothing_partial();
    if (!summary_.is_object()) {
      wrong_.push_back("summary.json cannot be read");
      return wrong_;
    }
    audit();
    totals();
    metrics();
    return wrong_;
  }

 private:
  void require(bool holds, const std::string& what) {
    if (!holds) wrong_.push_back(what);
  }
  void require_is(const char* key, const json& value) {
    const json found = summary_.value(key, json());
    require(found == value, fmt::format("{} is {}, not {}", key, found.dump(), value.dump()));
  }

  // The trace of a leg that was killed keeps the name that says so.
  void nothing_partial() {
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      const std::string name = entry.path().filename();
      const bool of_a_leg = name.starts_with("trace.") && name != "trace.jsonl.partial";
      require(!name.ends_with(".partial") || of_a_leg, name + " was left");
    }
  }

  void audit() {
    require_is("lost", 0);
    require_is("duplicated", 0);
    require_is("replicas_identical", true);
    require_is("model", "final");
    if (!interrupted_) require_is("stop_reason", scenario_.stop_reason);
  }

  void totals() {
    const auto by_worker = summary_["gradients_by_worker"].get<std::vector<std::uint64_t>>();
    const std::uint64_t leg = std::accumulate(by_worker.begin(), by_worker.end(), std::uint64_t{0});
    const std::uint64_t before =
        summary_.contains("resumed") ? summary_["resumed"]["gradients"].get<std::uint64_t>() : 0;
    require_is("gradients", leg + before);
    for (const json& applied : summary_["iterations"])
      require(applied == leg, "a worker applied " + applied.dump() + " of " + std::to_string(leg));
    if (interrupted_) return;
    if (scenario_.gradients) require_is("gradients", *scenario_.gradients);
    if (scenario_.samples) require_is("samples", *scenario_.samples);
  }

  // One series, also over several legs, that ends where the summary does.
  void metrics() {
    std::ifstream file(run_ + "/metrics.jsonl");
    double seconds = 0;
    std::uint64_t gradients = 0;
    for (std::string line; std::getline(file, line);) {
      const json entry = json::parse(line, nullptr, false);
      if (!entry.is_object()) return wrong_.push_back("metrics.jsonl has a broken line");
      if (!entry.contains("gradients")) continue;  // an evaluation
      require(entry["seconds"] >= seconds, "metrics.jsonl goes back in time");
      require(entry["gradients"] >= gradients, "metrics.jsonl loses gradients");
      seconds = entry["seconds"];
      gradients = entry["gradients"];
    }
    require(gradients == summary_["gradients"], "metrics.jsonl ends before the run");
  }

  const Scenario& scenario_;
  const std::string run_;
  const bool interrupted_;
  const json summary_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> look_at(const Scenario& scenario, const std::string& run,
                                 bool interrupted) {
  return Look(scenario, run, interrupted).everywhere();
}

std::vector<std::string> compare(const std::string& run, const std::string& again) {
  std::vector<std::string> wrong;
  for (const char* name : {"trace.jsonl", "model.npy"})
    if (read_text(run + "/" + name) != read_text(again + "/" + name))
      wrong.push_back(fmt::format("{} is another when the simulation is repeated", name));
  return wrong;
}

}  // namespace dasgd::soak
