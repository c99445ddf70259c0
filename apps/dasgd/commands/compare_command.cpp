#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/compare_contest.hpp"
#include "commands/compare_ranks.hpp"
#include "dasgd/archive/directory_lock.hpp"
#include "dasgd/base/atomic_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/base/write_all.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/referee/first_rounds.hpp"
#include "dasgd/referee/hold.hpp"
#include "dasgd/referee/pictures.hpp"
#include "dasgd/referee/records.hpp"
#include "dasgd/referee/results.hpp"
#include "dasgd/report/write_report.hpp"
#include "dasgd/rivals/all_rivals.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "ranks/rank_launch.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

/// Tells a person how far it is: on a terminal in place, elsewhere now and then.
class RunsShown {
 public:
  explicit RunsShown(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~RunsShown() {
    if (!quiet_ && terminal_) print_note("\r\033[K");
  }
  void operator()(std::size_t done, std::size_t about) {
    if (quiet_) return;
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double>(now - began_).count();
    if (passed < next_) return;
    next_ = passed + (terminal_ ? 0.2 : 15);
    const double left = passed / static_cast<double>(done) * static_cast<double>(about - done);
    print_note("{}{} of about {} runs, about {:.0f} s left{}", terminal_ ? "\r\033[K" : "", done,
               about, left, terminal_ ? "" : "\n");
  }

 private:
  const bool quiet_, terminal_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double next_ = 1;
  std::mutex mutex_;  // guards when the next line is due
};

std::string directory_of(const Config& config) {
  const std::string path =
      config.output.out.empty() ? "runs/compare-" + config.problem.model : config.output.out;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw InputError("--out " + path + ": cannot be made a directory: " + error.message());
  if (!fs::is_empty(path) && !fs::exists(path + "/journal.jsonl"))
    throw InputError("--out " + path +
                     ": holds files that are of no comparison; choose another directory");
  return path;
}

// All that makes a finished run what it is, but for its rival, world, step and seed.
std::string identity_of(const Config& config, const Contest& contest) {
  Config bare = config;
  bare.compare = {};
  bare.compare.preempt = contest.preempt;
  bare.output = {};
  bare.world.threads = 1;
  bare.run.evaluation.every = std::chrono::nanoseconds(contest.every);
  bare.run.evaluation.share = 1;
  std::string text = fmt::format("{} {}\n{}", version(), to_string(contest.goal),
                                 to_toml(config::Command::compare, bare));
  for (const ContestWorld& world : contest.worlds) {
    if (!world.name.ends_with(".toml")) continue;
    std::ifstream file(world.name, std::ios::binary);
    text += std::string(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

std::vector<ContestRow> predictions(std::vector<ContestRow> rows) {
  for (ContestRow& row : rows) row.runs = std::move(row.predicted);
  return rows;
}

template <typename Real>
ComparePicture rounds_picture(const Objective<Real>& objective, const Contest& contest,
                              const std::vector<JudgedWorld>& worlds) {
  ComparePicture picture{"rounds", "The first rounds",
                         "A line per worker (the last one is the last worker), a bar per "
                         "gradient, "
                         "orange where it was in vain; where there is no bar, a worker waits."};
  for (std::size_t w = 0; w < worlds.size(); ++w)
    picture.drawings.push_back(
        time_lines(worlds[w].name,
                   first_rounds(objective, contest, contest.worlds[w], worlds[w], drawn(worlds[w])),
                   contest.worlds[w].options.workers));
  return picture;
}

template <typename Real>
int compare_problem(const Config& config, const Objective<Real>& objective, const Contest& contest,
                    const Perform<Real>& perform) {
  const auto notes = notes_of(contest);
  const std::string directory = directory_of(config);
  const DirectoryLock lock(directory);
  Journal journal(directory + "/journal.jsonl", identity_of(config, contest));
  write_file(directory + "/config.toml", to_toml(config::Command::compare, config));
  const config::OutputSettings& output = config.output;
  if (!output.quiet)
    for (const std::string& note : notes) print_note("{}\n", note);
  if (!output.quiet && journal.found() > 0)
    print_note("going on: {} runs are there already\n", journal.found());
  std::vector<ContestRow> rows;
  try {
    RunsShown progress(output.quiet);
    rows = hold_contest(objective, contest, journal, std::ref(progress), perform);
  } catch (const ContestInterrupted&) {
    print_note(
        "dasgd: interrupted; what was finished is in {}: the same "
        "command goes on there\n",
        directory);
    return interrupted;
  }
  const auto worlds = judge_worlds(contest, rows);
  const std::string json = results_json(contest, worlds).dump(2) + "\n";
  WriteAll write;
  const auto keep = [&](const char* name, const std::string& text) {
    write(name, [&] { write_file(directory + "/" + name, text); });
  };
  keep("compare.csv", runs_csv(rows));
  keep("curves.csv", curves_csv(rows));
  if (contest.engine != ContestEngine::sim) keep("predicted.csv", runs_csv(predictions(rows)));
  keep("compare.json", json);
  std::vector<ComparePicture> pictures = pictures_of(worlds);
  pictures.push_back(rounds_picture(objective, contest, worlds));
  for (const ComparePicture& picture : pictures)
    for (const auto& [name, svg] : files_of(picture)) keep(name.c_str(), svg);
  if (!output.no_report)
    write("compare.html", [&] {
      report::write_figures(compare_page(contest, worlds, pictures), directory,
                            report::built_page(), "compare.html");
    });
  if (output.json)
    print_result_text(json);
  else if (!output.quiet)
    print_result("{}\n{}/compare.html, compare.csv, curves.csv, compare.json\n",
                 results_text(contest, worlds), directory);
  write.conclude();
  return done;
}

}  // namespace

int compare_list_command() {
  print_result_text(list_of_rivals(all_rivals()));
  return done;
}

namespace {

int compare_here(const Config& config) {
  const SignalStop signals;
  const Problem problem = read_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        const Contest contest = contest_of(config, *objective, signals.token());
        return compare_problem<Real>(config, *objective, contest,
                                     perform_on_threads(*objective, contest));
      },
      problem);
}

// Rank 0 compares; the others do what it says.
template <typename Real>
int compare_on_rank(const Config& config, const Objective<Real>& objective,
                    const SignalStop& signals, Ranks& ranks) {
  Contest contest;
  const std::string mistake = mistake_of([&] {
    contest = contest_of(config, objective, signals.token());
    notes_of(contest);
  });
  if (!ranks.agree(mistake, "")) return done;
  RankTurns<Real> turns(ranks, config, objective, contest);
  if (ranks.rank() == 0)
    return compare_problem<Real>(
        config, objective, contest,
        [&turns](const auto& rival, const auto& world, const auto& options, const auto& observer) {
          return turns.lead(rival, world, options, observer);
        });
  turns.follow();
  return done;
}

int compare_on_ranks(const Config& config) {
  if (!may_become_ranks()) return bad_input;
  const SignalStop signals(is_first_process() ? SignalStop::Kind::rank
                                              : SignalStop::Kind::quiet_rank);
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return bad_input;
  Problem problem;
  const std::string mistake = mistake_of([&] {
    require_all_processes(ranks);
    problem = read_problem(config);
  });
  if (!ranks.agree(mistake, to_toml(config::Command::compare, config))) return done;
  return std::visit(
      [&](const auto& objective) { return compare_on_rank(config, *objective, signals, ranks); },
      problem);
}

}  // namespace

int compare_command(const Config& config) {
  chosen_rivals(config.compare);  // before data is read
  const bool on_ranks = parse_contest_engine(config.compare.engine) == ContestEngine::mpi;
  return on_ranks ? compare_on_ranks(config) : compare_here(config);
}

}  // namespace dasgd::app
