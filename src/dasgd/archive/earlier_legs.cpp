#include "dasgd/archive/earlier_legs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/checkpoints/checkpoint_directory.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

// With another one of these the data positions or the model would mean something else.
constexpr std::array<const char*, 8> binding{"model",           "seed",
                                             "batch",           "samples",
                                             "list of columns", "list of classes",
                                             "scaling",         "weighting of classes"};
// With another one of these the numbers of evaluations would mean something else.
constexpr std::array<const char*, 5> judging{"loss", "validation", "list of means",
                                             "list of fill values", "scale of answers"};

bool is_one_of(std::span<const char* const> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Checkpoints of version 0.1 name a file of a model as it was typed, which may be relative to any
// directory. It is taken for the same one if that is how the path ends.
bool is_end_of_path(const std::string& typed, const std::string& path) {
  const fs::path was = fs::path(typed).lexically_normal();
  if (!was.is_relative() || !fs::path(path).is_absolute()) return false;
  std::string end;
  for (const fs::path& part : was)
    if (part != "..") end += "/" + part.string();
  return path.ends_with(end);
}

// What cannot change is refused before anything else is said.
void compare(const std::string& directory, const RunFacts& before, const RunFacts& now,
             const Warn& warn) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : now) {
    const auto was = before.find(name);
    if (was == before.end() || was->second == value) continue;
    if (name == "model" && is_end_of_path(was->second, value)) continue;
    changes.push_back(fmt::format("`checkpoint.resume` {}: its {} was {} and is now {}", directory,
                                  name, was->second, value));
    if (is_one_of(binding, name)) throw InputError(changes.back() + "; that cannot change");
    if (name == "rule") changes.back() += "; its state starts empty";
    if (is_one_of(judging, name)) changes.back() += "; the best model so far is forgotten";
  }
  for (const std::string& change : changes) warn(change);
}

// The lines of a file that are whole and not after `seconds`.
std::string lines_up_to(const std::string& path, double seconds) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const auto json = parse_json(line);
    if (!json.is_object() || !json.contains("seconds") || !json["seconds"].is_number()) break;
    if (json["seconds"].get<double>() > seconds) break;
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

RunFacts facts_of(const TrainOptions& options, std::size_t samples, RunFacts given) {
  given["seed"] = std::to_string(options.seed);
  given["batch"] = std::to_string(resolved_batch(options, samples));
  given["sampling"] = to_string(options.sampling);
  given["rule"] = to_string(options.rule.kind);
  // What is kept of samples that arrive says nothing about them.
  if (!options.make_samples) given["samples"] = std::to_string(samples);
  return given;
}

std::optional<Checkpoint> find_checkpoint(const std::string& path, const RunFacts& facts,
                                          const Warn& warn) {
  const CheckpointDirectory directory(path + "/checkpoints");
  const auto files = directory.files();
  if (files.empty()) {
    warn(fmt::format("`checkpoint.resume` {}: has no checkpoint yet; starting from the beginning",
                     path));
    return std::nullopt;
  }
  auto found = directory.newest_good(
      [&](const std::string& what) { warn(what + "; trying the one before"); });
  if (!found)
    throw InputError(fmt::format("`checkpoint.resume` {}: none of its {} checkpoints can be read",
                                 path, files.size()));
  compare(path, found->facts, facts, warn);
  return found;
}

bool are_judged_alike(const RunFacts& before, const RunFacts& now) {
  return std::all_of(judging.begin(), judging.end(), [&](const char* name) {
    const auto was = before.find(name), is = now.find(name);
    return was == before.end() || is == now.end() || was->second == is->second;
  });
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

}  // namespace dasgd
