#include "resume.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/checkpoint_directory.hpp"
#include "stream.hpp"

namespace dasgd::app {
namespace fs = std::filesystem;
namespace {

// With another one of these the data positions or the model would mean something else.
constexpr std::array<const char*, 4> binding{"model", "seed", "batch", "samples"};

// What cannot change is refused before anything else is said.
void compare(const std::map<std::string, std::string>& before,
             const std::map<std::string, std::string>& now, const Config& config,
             const Warn& warn) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : now) {
    const auto was = before.find(name);
    if (was == before.end() || was->second == value) continue;
    changes.push_back(fmt::format("--resume {}: its {} was {} and is now {}", config.resume, name,
                                  was->second, value));
    if (std::find(binding.begin(), binding.end(), name) != binding.end())
      throw InputError(changes.back() + "; that cannot change");
  }
  for (const std::string& change : changes) warn(change);
}

// The lines of a file that are whole and not after `seconds`.
std::string lines_up_to(const std::string& path, double seconds) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("seconds") || !json["seconds"].is_number()) break;
    if (json["seconds"].get<double>() > seconds) break;
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::string config_of(Config& config, const std::string& config_file) {
  if (!config_file.empty())
    throw InputError("--resume takes the config of its directory; leave " + config_file + " out");
  if (!config.out.empty())
    throw InputError("--resume goes on in its own directory; leave --out out");
  const std::string path = config.resume + "/config.toml";
  if (!fs::is_regular_file(path))
    throw InputError(
        fmt::format("--resume {}: is no run directory: it has no config.toml", config.resume));
  config.out = config.resume;
  return path;
}

std::map<std::string, std::string> facts_of(const Config& config, std::size_t samples) {
  std::map<std::string, std::string> facts{{"model", config.model},
                                           {"data", config.data},
                                           {"seed", std::to_string(config.seed)},
                                           {"batch", std::to_string(*config.batch)},
                                           {"sampling", to_string(config.sampling)},
                                           {"rule", to_string(config.rule.kind)}};
  // What is kept of a stream says nothing about it.
  if (!is_stream(config.data)) facts["samples"] = std::to_string(samples);
  return facts;
}

std::optional<Checkpoint> find_checkpoint(const Config& config, std::size_t samples,
                                          const Warn& warn) {
  const CheckpointDirectory directory(config.resume + "/checkpoints");
  const auto files = directory.files();
  if (files.empty()) {
    warn(fmt::format("--resume {}: has no checkpoint yet; starting from the beginning",
                     config.resume));
    return std::nullopt;
  }
  auto found = directory.newest_good(
      [&](const std::string& what) { warn(what + "; trying the one before"); });
  if (!found)
    throw InputError(fmt::format("--resume {}: none of its {} checkpoints can be read",
                                 config.resume, files.size()));
  compare(found->facts, facts_of(config, samples), config, warn);
  return found;
}

std::string carry_metrics(const std::string& directory, double seconds) {
  const std::string path = directory + "/metrics.jsonl";
  // A killed run has them in the partial file; one that was killed while it took them over, in
  // both.
  const std::string whole = lines_up_to(path, seconds);
  const std::string partial = lines_up_to(partial_path(path), seconds);
  const std::string& longer = whole.size() > partial.size() ? whole : partial;
  AtomicFile file(path + ".carried");
  file.write(longer);
  file.commit();
  fs::rename(path + ".carried", path);
  return longer;
}

}  // namespace dasgd::app
