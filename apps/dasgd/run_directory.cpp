#include "run_directory.hpp"

#include <chrono>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dasgd/core/error.hpp"
#include "dasgd/record/atomic_file.hpp"

namespace dasgd::app {
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

}  // namespace

RunDirectory::RunDirectory(const std::string& path, const std::string& model)
    : path_(path.empty() ? make_fresh(model) : path) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error || !fs::is_directory(path_))
    throw InputError(fmt::format("--out {}: cannot be made a directory{}", path_,
                                 error ? ": " + error.message() : ""));
  try {
    write_file(file(".writable"), "");
  } catch (const WriteError&) {
    throw InputError(fmt::format("--out {}: is not writable; choose another directory", path_));
  }
  fs::remove(file(".writable"), error);
  for (const char* name :
       {"config.toml", "metrics.jsonl", "summary.json", "trace.jsonl", "model.npy", "report.html",
        "advice.json", "prediction.json", "trace.chrome.json"}) {
    fs::remove(file(name), error);
    if (!fs::is_symlink(file(name) + ".partial") && !fs::is_fifo(file(name) + ".partial"))
      fs::remove(file(name) + ".partial", error);
  }
  fs::remove_all(file("charts"), error);
}

}  // namespace dasgd::app
