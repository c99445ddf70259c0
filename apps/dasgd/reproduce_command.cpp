#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "dasgd/core/error.hpp"
#include "reproduce.hpp"

namespace dasgd::app {
namespace {

using Repeat = void (*)(const Experiment&);

const std::vector<std::pair<std::string, Repeat>>& experiments() {
  static const std::vector<std::pair<std::string, Repeat>> all{
      {"quadratic", reproduce_slow_worker},
      {"logistic", reproduce_slow_worker},
      {"topology", reproduce_topology},
  };
  return all;
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("--out " + directory + ": cannot be made a directory: " + error.message());
}

}  // namespace

unsigned all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void show_simulations(std::size_t done, std::size_t total) {
  if (isatty(STDERR_FILENO) != 1) return;
  if (done < total)
    fmt::print(stderr, "\r\033[K{} of {} simulations", done, total);
  else
    fmt::print(stderr, "\r\033[K");
}

std::vector<std::string> reproducible() {
  std::vector<std::string> names;
  for (const auto& [name, repeat] : experiments()) names.push_back(name);
  names.emplace_back("all");
  return names;
}

int reproduce_command(const ReproduceRequest& request) {
  const std::string out = request.out.empty() ? "runs/reproduce-" + request.what : request.out;
  const bool all = request.what == "all";
  for (const auto& [name, repeat] : experiments()) {
    if (!all && name != request.what) continue;
    const std::string directory = all ? out + "/" + name : out;
    make_directory(directory);
    if (all) fmt::print("{}\n", name);
    repeat({name, directory, request.quick});
    if (all) fmt::print("\n");
  }
  return done;
}

}  // namespace dasgd::app
