#include "sweep/sweep_plan.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/settings/named_files.hpp"
#include "dasgd/settings/tasks/variation.hpp"
#include "dasgd/settings/toml_file.hpp"

namespace dasgd::app {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_runs = 100'000;

config::Command command_of(const std::string& engine) {
  const std::vector<std::string> engines{"simulate", "threads", "mpi"};
  if (std::find(engines.begin(), engines.end(), engine) == engines.end())
    throw InputError("--engine: unknown engine \"" + engine + "\"" + suggestion(engine, engines));
  return engine == "simulate" ? config::Command::simulate : config::Command::train;
}

// Keys that change together stand together.
using Together = std::vector<config::Variation>;

std::vector<Together> read_variations(const SweepRequest& request, config::Command command) {
  std::vector<Together> all;
  std::set<std::string> known;
  for (const std::string& text : request.vary) {
    all.push_back(config::parse_variations(command, text));
    for (const config::Variation& one : all.back()) {
      if (!known.insert(one.key).second)
        throw InputError("--vary " + text + ": " + one.key + " is varied already");
      if (one.key == "seed" && request.seeds)
        throw InputError("--seeds and --vary seed=...: give one of them");
    }
  }
  return all;
}

// The next combination of one value of each; the last one changes fastest. False after the last.
bool advance(std::vector<std::size_t>& at, const std::vector<Together>& all) {
  for (std::size_t k = all.size(); k-- > 0;) {
    if (++at[k] < all[k].front().values.size()) return true;
    at[k] = 0;
  }
  return false;
}

std::string safe(const std::string& text) {
  std::string result = text;
  for (char& c : result)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("._:+-").find(c) == std::string_view::npos)
      c = '_';
  return result;
}

std::string name_of_run(const Sweep& sweep, const SweepRun& run) {
  std::string name;
  for (std::size_t k = 0; k < sweep.keys.size(); ++k)
    if (sweep.keys[k] != "seed") name += fmt::format("{}={},", sweep.keys[k], safe(run.values[k]));
  return name + fmt::format("seed={}", run.seed);
}

void require_names(const Sweep& sweep) {
  constexpr std::size_t longest = 200;
  std::set<std::string> names;
  for (const SweepRun& run : sweep.runs) {
    if (run.name.size() > longest)
      throw InputError("--vary: the values are too long for the name of a directory: " + run.name);
    if (!names.insert(run.name).second)
      throw InputError("--vary: two runs would be called " + run.name);
  }
}

constexpr const char* files_file = "files.json";

// What the files held that the settings of earlier runs name.
std::map<std::string, std::string> known_files(const std::string& directory) {
  const std::string path = directory + "/" + files_file;
  if (!fs::exists(path)) return {};
  const auto json = parse_json(text_of_file(path));
  if (!json.is_object()) throw InputError(path + ": is damaged; choose another directory");
  return json.get<std::map<std::string, std::string>>();
}

}  // namespace

SweepPlan plan_sweep(const SweepRequest& request) {
  SweepPlan plan{command_of(request.engine), {request.engine, {}, {}}, {}, {}, {}};
  const auto variations = read_variations(request, plan.command);
  for (const Together& group : variations)
    for (const config::Variation& one : group) plan.sweep.keys.push_back(one.key);
  std::vector<std::size_t> at(variations.size(), 0);
  std::size_t setting = 0;
  do {
    SweepRequest::Values values;
    for (std::size_t k = 0; k < variations.size(); ++k)
      for (const config::Variation& one : variations[k])
        values.emplace_back(one.key, one.values[at[k]]);
    config::Config config = request.resolve(plan.command, values);
    if (is_stream(config.problem.data))
      throw InputError("`data` " + config.problem.data + ": a sweep needs a finite data set");
    // How runs are shown is not part of what they are.
    config.output = {.trace = config.output.trace, .no_report = true, .quiet = true};
    for (std::size_t s = 0; s < request.seeds.value_or(1); ++s, ++config.run.seed) {
      SweepRun run{{}, {}, config.run.seed};
      for (const auto& [key, value] : values) run.values.push_back(value);
      run.name = name_of_run(plan.sweep, run);
      plan.sweep.runs.push_back(std::move(run));
      plan.configs.push_back(to_toml(plan.command, config));
      plan.workers.push_back(config.run.workers);
      plan.settings.push_back(setting);
      if (plan.sweep.runs.size() > most_runs)
        throw InputError(fmt::format("--vary: more than {} runs", most_runs));
    }
    ++setting;
  } while (advance(at, variations));
  require_names(plan.sweep);
  return plan;
}

std::string sweep_config_path(const std::string& directory, const std::string& name) {
  return directory + "/configs/" + name + ".toml";
}

void open_sweep(const SweepPlan& plan, const std::string& directory) {
  const auto refuse = [&](const std::string& what) {
    throw InputError("--out " + directory + ": " + what + "; choose another directory");
  };
  auto files = config::digests_of_named_files(plan.configs);
  if (is_sweep(directory)) {
    const Sweep known = read_sweep(directory);
    if (known.engine != plan.sweep.engine || known.keys != plan.sweep.keys)
      refuse("holds a sweep of other keys, or on another engine");
    for (const auto& [name, digest] : known_files(directory))
      if (const auto now = files.find(name); now != files.end() && now->second != digest)
        refuse("has runs with other contents of " + name);
    for (std::size_t k = 0; k < plan.configs.size(); ++k) {
      const std::string path = sweep_config_path(directory, plan.sweep.runs[k].name);
      if (fs::exists(path) && text_of_file(path) != plan.configs[k])
        refuse("holds a sweep of another base; " + path + " differs");
    }
  } else {
    const auto is_left_over = [](const fs::directory_entry& entry) {
      return entry.path().extension() == partial_ending;
    };
    if (!std::all_of(fs::directory_iterator(directory), {}, is_left_over))
      refuse("has files that do not belong to a sweep");
  }
  write_file(directory + "/" + sweep_file, to_json(plan.sweep));
  fs::create_directories(directory + "/configs");
  fs::create_directories(directory + "/runs");
  for (std::size_t k = 0; k < plan.configs.size(); ++k) {
    const std::string path = sweep_config_path(directory, plan.sweep.runs[k].name);
    if (!fs::exists(path)) write_file(path, plan.configs[k]);
  }
  files.merge(known_files(directory));
  write_file(directory + "/" + files_file, nlohmann::json(files).dump(2) + "\n");
}

}  // namespace dasgd::app
