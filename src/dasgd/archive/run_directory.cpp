#include "dasgd/archive/run_directory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string_view>
#include <utility>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/checkpoints/checkpoint_directory.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

// A directory that did not exist before, even if another run starts in the same second.
std::string make_fresh(const std::string& model) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string base = fmt::format("runs/{}-{:%Y%m%d-%H%M%S}", model, now);
  std::error_code error;
  fs::create_directories("runs", error);
  std::string name = base;
  for (int copy = 2; !fs::create_directory(name, error) && !error; ++copy)
    name = fmt::format("{}-{}", base, copy);
  return name;
}

constexpr const char* mark = ".dasgd";  // a run was here: what has its names is its own
constexpr const char* probe = ".writable";

std::string earlier_trace(const std::string& directory, std::size_t leg) {
  return fmt::format("{}/trace.{}.jsonl", directory, leg);
}

// Beside config.toml, reports and checkpoints.
constexpr std::array written_names{
    "metrics.jsonl",      "summary.json",    "trace.jsonl",      "model.npy",
    "model.pt",           "model.best.npy",  "model.best.pt",    "model.best.json",
    "preprocessing.json", "advice.json",     "samples.json",     "worst.json",
    "prediction.json",    "token",           "address",          "addresses",
    "members.json",       "adoptions.jsonl", "membership.jsonl", "control"};

// "trace.3.jsonl", partial or not.
bool is_earlier_trace(std::string_view name) {
  if (name.ends_with(partial_ending)) name.remove_suffix(partial_ending.size());
  if (!name.starts_with("trace.") || !name.ends_with(".jsonl") || name.size() < 13) return false;
  const std::string_view leg = name.substr(6, name.size() - 12);
  return leg.find_first_not_of("0123456789") == std::string_view::npos;
}

bool holds_run(const std::string& path) {
  const std::string metrics = path + "/metrics.jsonl";
  return fs::exists(path + "/summary.json") || fs::exists(path + "/checkpoints") ||
         fs::exists(metrics) || fs::exists(partial_path(metrics));
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, const std::string& model, bool keep_config)
    : path_(path.empty() ? make_fresh(model) : path) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error || !fs::is_directory(path_))
    throw InputError(fmt::format("`output.out` {}: cannot be made a directory{}", path_,
                                 error ? ": " + error.message() : ""));
  require_ours();
  lock_ = std::make_unique<DirectoryLock>(path_);
  require_writable();
  write_file(file(mark), "");
  for (const char* name : written_names) remove_file(name);
  if (!keep_config) remove_file("config.toml");
  remove_report();
  std::vector<fs::path> earlier;
  for (const auto& entry : fs::directory_iterator(path_, error))
    if (is_earlier_trace(entry.path().filename().string())) earlier.push_back(entry.path());
  for (const fs::path& trace : earlier) fs::remove(trace, error);
  CheckpointDirectory(file("checkpoints")).clear();
}

bool RunDirectory::writes(std::string_view name) {
  return name == "config.toml" || std::ranges::find(written_names, name) != written_names.end();
}

void RunDirectory::require_usable(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return;
  const RunDirectory directory(path);
  directory.require_ours();
  directory.require_writable();
}

RunDirectory RunDirectory::reopen(const std::string& path, std::size_t leg) {
  RunDirectory directory(path);
  directory.require_writable();
  for (const char* name : {"summary.json", "model.npy", "model.pt"}) directory.remove_file(name);
  directory.remove_report();
  const std::string kept = earlier_trace(path, leg - 1);
  std::error_code error;
  // A leg that reached no checkpoint is void, and so is its trace: the name is taken then.
  const bool is_void = fs::exists(kept) || fs::exists(partial_path(kept));
  const std::string trace = directory.file("trace.jsonl");
  for (const auto& [from, to] : {std::pair(trace, kept), {partial_path(trace), partial_path(kept)}})
    if (!is_void && fs::is_regular_file(from)) fs::rename(from, to, error);
  directory.remove_file("trace.jsonl");
  return directory;
}

void RunDirectory::require_ours() const {
  const auto is_there = [&](const char* name) {
    return fs::exists(file(name)) || fs::exists(partial_path(file(name)));
  };
  if (is_there(mark) || (is_there("config.toml") && is_there("metrics.jsonl"))) return;
  const auto is_left_over = [](const fs::directory_entry& entry) {  // by a run that was killed
    return entry.path().extension() == partial_ending || entry.path().filename() == "checkpoints" ||
           entry.path().filename() == probe;
  };
  if (std::all_of(fs::directory_iterator(path_), fs::directory_iterator(), is_left_over)) return;
  throw InputError(fmt::format(
      "`output.out` {}: has files that do not belong to a run; choose a new or empty directory",
      path_));
}

void RunDirectory::require_writable() const {
  try {
    write_file(file(probe), "");
  } catch (const WriteError&) {
    throw InputError(
        fmt::format("`output.out` {}: is not writable; choose another directory", path_));
  }
  std::error_code ignored;
  fs::remove(file(probe), ignored);
}

void RunDirectory::remove_report() const {
  for (const char* name : {"report.html", "trace.chrome.json"}) remove_file(name);
  std::error_code ignored;
  fs::remove_all(file("charts"), ignored);
}

void RunDirectory::remove_file(const std::string& name) const {
  std::error_code ignored;
  fs::remove(file(name), ignored);
  const std::string partial = partial_path(file(name));
  if (fs::is_regular_file(fs::symlink_status(partial))) fs::remove(partial, ignored);
}

PlannedRun::PlannedRun(const std::string& path, const std::string& model,
                       const std::string& settings)
    : was_there_(!path.empty() && fs::is_directory(path)),
      directory_(was_there_ && holds_run(path)
                     ? std::nullopt
                     : std::optional<RunDirectory>(std::in_place, path, model)),
      path_(directory_ ? directory_->path() : path) {
  if (directory_) write_file(directory_->file("config.toml"), settings);
}

PlannedRun::~PlannedRun() {
  if (!directory_) return;
  std::error_code ignored;
  for (const char* name : {"config.toml", mark}) fs::remove(directory_->file(name), ignored);
  if (!was_there_) fs::remove(path_, ignored);
}

}  // namespace dasgd
