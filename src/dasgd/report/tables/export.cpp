#include "dasgd/report/tables/export.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/sweep.hpp"
#include "dasgd/report/run.hpp"
#include "dasgd/report/tables/csv_table.hpp"

namespace dasgd::report {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// A run and what every one of its rows begins with.
struct Source {
  std::string path;
  Json settings;  // "run", the settings that differ, "seed"
  Json summary;
};

Json json_at(const std::string& path) {
  std::ifstream file = open_file(path);
  return parse_json<Json>(file);
}

// {"a": {"b": 1}} as {"a.b": 1}; lists are of workers, and stand in another table.
void flatten(const Json& object, const std::string& prefix, Json& to) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", to);
    } else if (!value.is_array()) {
      to[prefix + key] = value;
    }
  }
}

/// Collects runs from sweeps and from run directories.
class Sources {
 public:
  std::vector<Source> all;
  std::size_t missing = 0;

  void add_sweep(const std::string& directory, const std::string& prefix) {
    const Sweep sweep = read_sweep(directory);
    for (const SweepRun& run : sweep.runs) {
      const std::string path = sweep_run_path(directory, run.name);
      if (!is_finished_run(path)) {
        ++missing;
        continue;
      }
      Json settings{{"run", prefix + run.name}};
      for (std::size_t k = 0; k < sweep.keys.size(); ++k) settings[sweep.keys[k]] = run.values[k];
      settings["seed"] = run.seed;
      add(path, std::move(settings));
    }
  }

  void add_run(const std::string& directory, const std::string& name) {
    if (!fs::is_regular_file(directory + "/summary.json"))
      throw InputError(directory +
                       ": holds neither a sweep nor a run that has ended (no summary.json)");
    Json settings{{"run", name}};
    if (const Json config = config_of(directory); config.is_object())
      for (const auto& [key, value] : config.items())
        if (differs(key)) settings[key] = value.is_array() ? Json(value.dump()) : value;
    add(directory, std::move(settings));
    all.back().settings["seed"] = all.back().summary.value("seed", Json());
  }

  /// Settings of run directories that differ between them identify them.
  void compare(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) configs_.push_back(config_of(directory));
  }

 private:
  void add(const std::string& path, Json settings) {
    Json summary = json_at(path + "/summary.json");
    if (!summary.is_object()) throw InputError(path + "/summary.json: is not a JSON object");
    all.push_back({path, std::move(settings), std::move(summary)});
  }

  static Json config_of(const std::string& directory) {
    try {
      return flat_config(text_of_file(directory + "/config.toml"));
    } catch (const InputError&) {
      return nullptr;
    }
  }
  bool differs(const std::string& key) const {
    if (key == "seed" || key.starts_with("output.")) return false;
    const auto of = [&](const Json& config) { return config.value(key, Json()); };
    return std::any_of(configs_.begin(), configs_.end(), [&](const Json& config) {
      return config.is_object() && configs_.front().is_object() &&
             of(config) != of(configs_.front());
    });
  }

  std::vector<Json> configs_;
};

Sources find_sources(const std::vector<std::string>& paths) {
  Sources sources;
  std::vector<std::string> plain;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) throw InputError(path + ": is not a directory");
    if (!is_sweep(path)) plain.push_back(path);
  }
  sources.compare(plain);
  for (const std::string& path : paths) {
    const std::string name = fs::weakly_canonical(path).filename().string();
    if (is_sweep(path)) {
      sources.add_sweep(path, paths.size() > 1 ? name + "/" : "");
    } else {
      sources.add_run(path, paths.size() > 1 ? path : name);
    }
  }
  return sources;
}

TableColumns first_columns(const std::vector<Source>& sources) {
  TableColumns columns;
  columns.add("run");
  for (const Source& source : sources)
    for (const auto& [key, value] : source.settings.items())
      if (key != "seed") columns.add(key);
  columns.add("seed");
  return columns;
}

using EachRow = std::function<void(Json)>;
using RowsOf = std::function<void(const Source&, const EachRow&)>;

// Twice over the rows, which need not fit into memory: once for the columns.
std::string write_table(const std::string& path, const std::vector<Source>& sources,
                        const RowsOf& rows_of) {
  TableColumns columns = first_columns(sources);
  for (const Source& source : sources)
    rows_of(source, [&](const Json& row) {
      for (const auto& [key, value] : row.items()) columns.add(key);
    });
  CsvFile file(path, columns);
  for (const Source& source : sources)
    rows_of(source, [&](Json row) {
      row.update(source.settings);
      file.write(row);
    });
  file.commit();
  return path;
}

RowsOf summary_row(bool wall_time) {
  return [=](const Source& source, const EachRow& each) {
    Json row = Json::object();
    flatten(source.summary, "", row);
    if (!wall_time) row.erase("wall_seconds");
    each(std::move(row));
  };
}

void metrics_rows(const Source& source, const EachRow& each) {
  std::ifstream file = open_file(source.path + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json figures = parse_json<Json>(line);
    if (!figures.is_object()) continue;
    Json row = Json::object();
    flatten(figures, "", row);
    each(std::move(row));
  }
}

void worker_rows(const Source& source, const EachRow& each) {
  const auto of_workers = source.summary.find("gradients_by_worker");
  const std::size_t workers = of_workers == source.summary.end() ? 0 : of_workers->size();
  for (std::size_t w = 0; w < workers; ++w) {
    Json row{{"worker", w}};
    for (const auto& [key, value] : source.summary.items())
      if (value.is_array() && value.size() == workers && value[w].is_primitive())
        row[key] = value[w];
    each(std::move(row));
  }
}

}  // namespace

Exported export_runs(const std::vector<std::string>& paths, const std::string& directory,
                     bool wall_time) {
  const Sources sources = find_sources(paths);
  Exported exported{{}, sources.all.size(), sources.missing};
  exported.files.push_back(
      write_table(directory + "/runs.csv", sources.all, summary_row(wall_time)));
  exported.files.push_back(write_table(directory + "/metrics.csv", sources.all, metrics_rows));
  exported.files.push_back(write_table(directory + "/workers.csv", sources.all, worker_rows));
  return exported;
}

}  // namespace dasgd::report
