#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/settings/settings.hpp"
#include "ranks/rank_launch.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

using Repeat = void (*)(const Experiment&);

const std::vector<std::pair<std::string, Repeat>>& experiments() {
  static const std::vector<std::pair<std::string, Repeat>> all{
      {"quadratic", reproduce_slow_worker}, {"logistic", reproduce_slow_worker},
      {"topology", reproduce_topology},     {"cifar", reproduce_cifar},
      {"rivals", reproduce_rivals},
  };
  return all;
}

bool has_slow_worker(const std::string& what) { return what == "quadratic" || what == "logistic"; }

// Why it cannot be repeated on ranks; empty if it can.
std::string not_for_ranks(const ReproduceRequest& request) {
  if (request.what != "cifar" && !has_slow_worker(request.what))
    return "only cifar, quadratic and logistic can be repeated on MPI ranks";
  if (!request.scaling.workers.empty())
    return "on MPI ranks the ranks are the workers; leave --workers out";
  return "";
}

// The page of an experiment, from the files that it has written.
void write_page(const Experiment& experiment) {
  const auto text_of = [&](const char* extension) {
    std::ifstream file(experiment.stem() + extension, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  report::write_figures({.title = "The paper's experiment: " + experiment.what,
                         .subtitle = "an experiment of the paper in virtual time",
                         .figures = {{experiment.what, "", {text_of(".svg")}}},
                         .table = nlohmann::ordered_json::parse(text_of(".json"), nullptr, false)},
                        experiment.directory);
}

}  // namespace

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("--out " + directory + ": cannot be made a directory: " + error.message());
}

unsigned all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void show_simulations(std::size_t done, std::size_t total) {
  if (isatty(STDERR_FILENO) != 1) return;
  if (done < total)
    print_note("\r\033[K{} of {} simulations", done, total);
  else
    print_note("\r\033[K");
}

std::vector<std::string> reproducible() {
  std::vector<std::string> names;
  for (const auto& [name, repeat] : experiments()) names.push_back(name);
  names.emplace_back("all");
  return names;
}

int reproduce_command(const ReproduceRequest& request) {
  const std::vector<std::string> names = reproducible();
  if (request.what.empty())
    throw InputError(fmt::format("name an experiment: {}", fmt::join(names, ", ")));
  if (std::find(names.begin(), names.end(), request.what) == names.end())
    throw InputError("unknown experiment \"" + request.what + "\"" +
                     suggestion(request.what, names));
  if (request.scaling.any() && request.what != "cifar")
    throw InputError(
        "--workers, --seeds, --lr, --target-loss, --give-up, --data, --scale and --device are "
        "settings of cifar, not of " +
        request.what);
  const bool on_ranks = request.engine == EngineKind::mpi ||
                        (request.engine == EngineKind::automatic && config::find_launch());
  if (const std::string why = not_for_ranks(request); on_ranks && !why.empty()) {
    if (!is_first_process()) return bad_input;  // rank 0 tells
    throw InputError(why);
  }
  const std::string out = request.out.empty() ? "runs/reproduce-" + request.what : request.out;
  const bool all = request.what == "all";
  for (const auto& [name, repeat] : experiments()) {
    if (!all && name != request.what) continue;
    const std::string directory = all ? out + "/" + name : out;
    if (!on_ranks) make_directory(directory);
    if (all) print_result("{}\n", name);
    const bool on_threads = request.engine == EngineKind::threads && has_slow_worker(name);
    const Experiment experiment{name, directory, request.quick, request.scaling, on_threads};
    try {
      const auto together =
          has_slow_worker(name) ? reproduce_slow_worker_on_ranks : reproduce_cifar_on_ranks;
      if (on_ranks && !together(experiment)) return done;
      if (!on_ranks) repeat(experiment);
      write_page(experiment);
    } catch (const Interrupted& stop) {
      print_note("dasgd: {}\n", stop.what());
      return interrupted;
    } catch (const InputError& error) {
      if (!all) throw;  // of all experiments, those that can be repeated here are
      print_result("left out: {}\n", config::with_options(error.what()));
    }
    if (all) print_result("\n");
  }
  return done;
}

}  // namespace dasgd::app
