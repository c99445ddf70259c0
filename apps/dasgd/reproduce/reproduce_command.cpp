#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/base/units.hpp"
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
      {"rivals", reproduce_rivals},         {"network", reproduce_network},
  };
  return all;
}

bool has_slow_worker(const std::string& what) { return what == "quadratic" || what == "logistic"; }

// Why it cannot be repeated on ranks; empty if it can.
std::string not_for_ranks(const ReproduceRequest& request) {
  if (request.what != "cifar" && !has_slow_worker(request.what))
    return "only cifar, quadratic and logistic can be repeated on MPI ranks";
  return "";
}

void require_own_settings(const ReproduceRequest& request) {
  const FigureChoice& choice = request.choice;
  const bool slow_worker = has_slow_worker(request.what), cifar = request.what == "cifar";
  const bool network = request.what == "network";
  FigureChoice without_workers = choice;
  without_workers.workers.clear();
  if ((network ? without_workers : choice).any_of_cifar() && !cifar)
    throw InputError(fmt::format(
        "{}--target-loss, --give-up, --data, --scale and --device are settings of cifar, not of {}",
        network ? "" : "--workers, ", request.what));
  if (choice.any_of_slow_worker() && !slow_worker)
    throw InputError("--slow and --target-error are settings of quadratic and logistic, not of " +
                     request.what);
  if ((network ? choice.seeds || choice.eta : choice.any_of_all()) && !slow_worker && !cifar)
    throw InputError(fmt::format("--seeds{} are settings of Figure 2, not of {}",
                                 network ? " and --lr" : ", --lr and --compute", request.what));
}

// A time of real gradients means nothing where none are real.
void require_real_time(const ReproduceRequest& request) {
  if (has_slow_worker(request.what) && request.engine != EngineKind::threads)
    throw InputError(
        "--compute is for real time, and in virtual time a gradient takes 50 ms: add --engine "
        "threads");
  if (request.what == "cifar" && request.choice.device == "cuda" &&
      request.engine != EngineKind::threads)
    throw InputError(
        "--compute is for real time, and a GPU is used in virtual time: add --engine "
        "threads");
}

// How the points of a table were made, in words: those of Figure 2 say so.
std::string ways_of(const nlohmann::ordered_json& table) {
  std::string words;
  for (const auto& [way, text] : {std::pair("virtual", "in virtual time"),
                                  {"threads", "on real threads"},
                                  {"mpi", "on MPI ranks"}})
    if (std::ranges::any_of(table,
                            [&](const auto& point) { return point.value("way", "") == way; }))
      words += (words.empty() ? "" : " and ") + std::string(text);
  return words.empty() ? "in virtual time" : words;
}

std::string subtitle_of(const Experiment& experiment, const nlohmann::ordered_json& table) {
  if (experiment.what == "rivals") return "numbers that others have published, in virtual time";
  if (experiment.what == "network")
    return "a small problem with the messages of large models, in virtual time";
  return "an experiment of the paper, " + ways_of(table);
}

// The page of an experiment, from the files that it has written.
void write_page(const Experiment& experiment) {
  const auto text_of = [&](const char* extension) {
    return text_of_file(experiment.stem() + extension);
  };
  const std::string kind = experiment.what == "rivals"    ? "Published numbers: "
                           : experiment.what == "network" ? "Thin networks: "
                                                          : "The paper's experiment: ";
  const auto table = parse_json<nlohmann::ordered_json>(text_of(".json"));
  report::write_figures({.title = kind + experiment.what,
                         .subtitle = subtitle_of(experiment, table),
                         .figures = {{experiment.what, "", {text_of(".svg")}}},
                         .table = table},
                        experiment.directory);
}

}  // namespace

void write_files(const Experiment& experiment, const std::string& csv, const std::string& json,
                 const std::string& svg) {
  write_file(experiment.stem() + ".csv", csv);
  write_file(experiment.stem() + ".json", json);
  write_file(experiment.stem() + ".svg", svg);
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("--out " + directory + ": cannot be made a directory: " + error.message());
}

std::chrono::nanoseconds time_of(const std::string& text) {
  return parse_duration(text.starts_with('+') ? text.substr(1) : text);
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
  require_own_settings(request);
  const bool on_ranks = request.engine == EngineKind::mpi ||
                        (request.engine == EngineKind::automatic && config::find_launch());
  if (const std::string why = not_for_ranks(request); on_ranks && !why.empty()) {
    if (!is_first_process()) return bad_input;  // rank 0 reports it
    throw InputError(why);
  }
  if (!request.choice.compute.empty() && !on_ranks) require_real_time(request);
  const std::string out = request.out.empty() ? "runs/reproduce-" + request.what : request.out;
  const bool all = request.what == "all";
  for (const auto& [name, repeat] : experiments()) {
    if (!all && name != request.what) continue;
    const std::string directory = all ? out + "/" + name : out;
    if (all) print_result("{}\n", name);
    const bool on_threads = request.engine == EngineKind::threads;
    const Experiment experiment{name, directory, request.quick, request.choice, on_threads};
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
