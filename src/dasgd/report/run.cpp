#include "dasgd/report/run.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/base/text_hazard.hpp"
#include "dasgd/base/toml.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/report/membership.hpp"

namespace dasgd::report {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

// What is copied and written again by functions that recurse is not taken in any depth.
Json json_of(const std::string& path) {
  const std::string text = text_of_file(path);
  return find_text_hazard(text) ? Json(Json::value_t::discarded) : parse_json<Json>(text);
}

Json value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  Json list = Json::array();
  if (const auto* array = node.as_array())
    for (const auto& item : *array) list.push_back(value_of(item));
  return list;
}

void flatten(const toml::table& table, const std::string& prefix, Json& to) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const auto* section = node.as_table()) {
      flatten(*section, key + ".", to);
    } else {
      to[key] = value_of(node);
    }
  }
}

bool is_object(const Json& json) { return json.is_object(); }

bool is_list_of_samples(const Json& json) {
  const auto is_sample = [](const auto& one) {
    return one.is_object() && one.contains("picture") && one["picture"].is_string();
  };
  return json.is_array() && std::all_of(json.begin(), json.end(), is_sample);
}

bool has_samples(const Json& json) {
  return json.is_object() && json.contains("samples") && json["samples"].is_array();
}

/// Reads the files of a run one by one and notes what is not as it should be.
class RunReader {
 public:
  RunReader(const std::string& directory, Run& run) : directory_(directory), run_(run) {}

  /// The path of a file, or of what a killed run left of it.
  std::optional<std::string> find(const char* name) {
    const std::string path = directory_ + "/" + name;
    if (fs::is_regular_file(path)) return path;
    if (fs::is_directory(path)) note_damage(fmt::format("{} is a directory; it is left out", name));
    if (!fs::is_regular_file(partial_path(path))) return std::nullopt;
    note(fmt::format("{} is unfinished; it is shown as far as it goes", name));
    return partial_path(path);
  }

  void config() {
    const auto path = find("config.toml");
    if (!path) return;
    found_ = true;
    try {
      run_.config = flat_config(text_of_file(*path));
    } catch (const InputError& error) {
      note_damage(fmt::format("config.toml cannot be read: {}", error.what()));
    }
  }

  void summary() {
    if (!take("summary.json", "a JSON object", &is_object, run_.summary)) return;
    found_ = true;
    run_.ended = run_.summary.is_object();
    if (run_.ended) run_.limits = limits_of(run_.summary);
  }

  /// A file that may be missing. False where it is.
  bool take(const char* name, const char* what, bool (*is_right)(const Json&), Json& to) {
    const auto path = find(name);
    if (!path) return false;
    to = json_of(*path);
    if (is_right(to)) return true;
    to = nullptr;
    note_damage(fmt::format("{} is not {}; it is left out", name, what));
    return true;
  }

  void metrics() {
    const auto path = find("metrics.jsonl");
    if (!path) return;
    found_ = true;
    std::ifstream file(*path);
    std::size_t bad = 0;
    for (std::string line; std::getline(file, line);)
      bad += run_.metrics.add(parse_json(line)) ? 0 : 1;
    if (bad > 0) note(fmt::format("metrics.jsonl: {} lines cannot be read and are left out", bad));
  }

  void trace(const DigestLimits& limits, const OnApplication& on_application) {
    const auto path = find("trace.jsonl");
    if (!path) return;
    found_ = true;
    std::size_t bad = 0;
    TraceDigest& digest = run_.trace.emplace(limits);
    scan_trace(
        *path,
        [&](const TraceLine& line) {
          if (!line.time || !line.S) {
            ++bad;
            return;
          }
          digest.add(line);
          if (on_application) on_application(line);
        },
        [&](const Violation&) { ++bad; });
    if (bad > 0) note(fmt::format("trace.jsonl: {} lines cannot be read and are left out", bad));
    if (digest.applications() == 0) run_.trace.reset();
  }

  void say_how_it_ended() {
    if (!found_)
      throw InputError(directory_ +
                       ": holds no run; expected config.toml, summary.json, metrics.jsonl or "
                       "trace.jsonl of dasgd train or simulate");
    if (!run_.ended) {
      note("The run has not ended properly: there is no summary and no audit");
    } else if (const std::string reason = text_of(run_.summary, "stop_reason", "");
               reason == "interrupted" || reason == "diverged" || reason == "failed") {
      note(fmt::format("The run ended early ({}); this is what it did until then", reason));
    }
  }

 private:
  void note(std::string text) { run_.notes.push_back(std::move(text)); }
  void note_damage(const std::string& text) {
    note(text);
    run_.damaged.push_back(text);
  }

  const std::string& directory_;
  Run& run_;
  bool found_ = false;
};

std::string shown(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Json flat_config(const std::string& text) {
  Json config = Json::object();
  if (const auto hazard = find_text_hazard(text))
    throw InputError(fmt::format("line {}: {}", hazard->line, hazard->what));
  try {
    flatten(toml::parse(text), "", config);
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("line {}: {}", error.source().begin.line, std::string(error.description())));
  }
  return config;
}

Run read_run(const std::string& directory, const DigestLimits& limits,
             const OnApplication& on_application) {
  if (!fs::is_directory(directory))
    throw InputError(directory + ": is not a directory; dasgd report needs run directories");
  Run run;
  run.path = directory;
  run.name = fs::weakly_canonical(directory).filename().string();
  run.label = run.name;
  run.config = Json::object();
  RunReader reader(directory, run);
  reader.config();
  reader.summary();
  reader.take("advice.json", "a JSON object", &is_object, run.advice);
  reader.take("samples.json", "a list of samples", &is_list_of_samples, run.samples);
  reader.take("worst.json", "a list of samples", &has_samples, run.worst);
  run.members = read_membership(directory);
  reader.metrics();
  reader.trace(limits, on_application);
  reader.say_how_it_ended();
  return run;
}

namespace {

// Whether the proof of a limit covers this run, and else which condition is missing.
std::string status_of_proof(const Json& summary, bool with_noise) {
  const auto is = [&](const char* key, const Json& value) {
    const auto at = summary.find(key);
    return at != summary.end() && *at == value;
  };
  const auto look_ahead = summary.find("look_ahead");
  const bool ahead = look_ahead != summary.end() && look_ahead->is_array() &&
                     std::any_of(look_ahead->begin(), look_ahead->end(),
                                 [](const Json& lambda) { return lambda != 0; });
  if (is("fixed_step", false)) return "proved only for plain SGD";
  if (ahead) return "proved only without look-ahead";
  if (summary.contains("members")) return "proved only for a fixed set of workers";
  if (is("noise", true)) {
    if (!with_noise) return "proved only without noise";
    if (!is("noncausal_applications", 0)) return "proved only for causal delivery";
    if (!is("sampling", "independent")) return "proved for independent draws";
  }
  return "proved for this L";
}

}  // namespace

std::vector<EtaLimit> limits_of(const Json& summary) {
  std::vector<EtaLimit> limits;
  const auto add = [&](const Json& object, const char* key, const std::string& name,
                       const std::string& status) {
    const auto at = object.find(key);
    if (at != object.end() && at->is_number()) limits.push_back({name, at->get<double>(), status});
  };
  add(summary, "certified_eta", "certificate of this run", status_of_proof(summary, false));
  add(summary, "a_priori_eta", "a priori, from S_max", status_of_proof(summary, true));
  add(summary, "published_eta_1", "published, from S_avg", "false in general");
  add(summary, "published_eta_2", "published, from S_hat", "false in general");
  if (const auto list = summary.find("limits"); list != summary.end() && list->is_array())
    for (const Json& limit : *list)
      if (limit.is_object() && limit.contains("name") && limit["name"].is_string())
        add(limit, "eta", limit["name"].get<std::string>(),
            limit.contains("status") ? shown(limit["status"]) : "");
  return limits;
}

void label_by_difference(std::vector<Run>& runs) {
  if (runs.size() < 2) return;
  std::vector<std::string> keys;
  for (const Run& run : runs)
    for (const auto& [key, value] : run.config.items())
      if (!key.starts_with("output.") && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
  std::erase_if(keys, [&](const std::string& key) {
    // What reads the same does not distinguish runs.
    const std::string first = shown(runs.front().config.value(key, Json()));
    return std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
      return shown(run.config.value(key, Json())) == first;
    });
  });
  for (Run& run : runs) {
    std::string label;
    for (const std::string& key : keys) {
      if (!run.config.contains(key)) continue;
      const std::string word =
          key.ends_with(".kind") ? key.substr(0, key.size() - 5) : key.substr(key.rfind('.') + 1);
      label += fmt::format("{}{} {}", label.empty() ? "" : ", ", word, shown(run.config[key]));
    }
    run.label = label.empty() ? run.name : label;
  }
  // Labels that do not distinguish runs are useless.
  for (Run& run : runs)
    if (std::count_if(runs.begin(), runs.end(),
                      [&](const Run& other) { return other.label == run.label; }) > 1)
      run.label += (run.label == run.name) ? " " + run.path : " (" + run.name + ")";
}

std::string text_of(const nlohmann::ordered_json& summary, const char* key, const char* otherwise) {
  const auto at = summary.find(key);
  return at != summary.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

}  // namespace dasgd::report
