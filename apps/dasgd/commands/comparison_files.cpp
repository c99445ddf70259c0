#include "commands/comparison_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::app {
namespace fs = std::filesystem;
namespace {

std::string content_of(const std::string& path) {
  const auto text = read_text(path);
  if (!text) throw InputError(path + ": cannot be read");
  return *text;
}

std::string copied(const std::string& from, const std::string& to) {
  if (!fs::exists(to) || !fs::equivalent(from, to)) write_file(to, content_of(from));
  return to;
}

// As the terminal and the page of compare say it.
std::string verdict_in(const nlohmann::json& row) {
  const std::string verdict = row.at("verdict");
  const bool is_reference =
      row.value("reference", row.at("rival") == "dasgd") && verdict == "no difference shown";
  return is_reference ? "reference" : verdict;
}

std::string shown(const nlohmann::json& value, const char* unit) {
  return value.is_number() ? fmt::format("{:.4g}{}", value.get<double>(), unit) : "-";
}

}  // namespace

bool is_comparison(const std::string& directory) {
  if (fs::exists(directory + "/compare.json") && fs::exists(directory + "/compare.csv"))
    return true;
  if (fs::exists(directory + "/journal.jsonl"))
    throw InputError(directory +
                     ": is a comparison that is not finished; the same command continues it");
  return false;
}

std::string comparison_text(const std::string& directory) {
  const std::string path = directory + "/compare.json";
  try {
    const auto json = parse_json(content_of(path));
    if (json.is_discarded())
      throw InputError(path + ": is not what compare writes: not JSON, or a key is given twice");
    std::string text = fmt::format("{:<16} {:<26} {:>12} {:>10}  {}\n", "world", "rival", "median",
                                   "ratio", "verdict");
    for (const auto& row : json.at("rows"))
      text += fmt::format("{:<16} {:<26} {:>12} {:>10}  {}\n", row.at("world").get<std::string>(),
                          row.at("rival").get<std::string>(), shown(row.at("median"), " s"),
                          shown(row.at("ratio"), ""), verdict_in(row));
    for (const auto& world : json.at("worlds"))
      text += world.at("sentence").get<std::string>() + "\n";
    return text;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path + ": is not what compare writes: " + error.what());
  }
}

std::vector<std::string> comparison_report(const std::string& directory, const std::string& out) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".svg") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  if (fs::exists(directory + "/compare.html")) names.insert(names.begin(), "compare.html");
  std::vector<std::string> files;
  for (const std::string& name : names)
    files.push_back(copied(directory + "/" + name, out + "/" + name));
  return files;
}

std::vector<std::string> export_comparison(const std::string& directory, const std::string& out) {
  return {copied(directory + "/compare.csv", out + "/runs.csv"),
          copied(directory + "/curves.csv", out + "/metrics.csv")};
}

}  // namespace dasgd::app
