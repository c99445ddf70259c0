#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/compare_ranks.hpp"
#include "dasgd/archive/directory_lock.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/write_all.hpp"
#include "dasgd/lab/comparison/comparison.hpp"
#include "dasgd/lab/referee/hold.hpp"
#include "dasgd/lab/referee/page/explain.hpp"
#include "dasgd/lab/referee/page/result_files.hpp"
#include "dasgd/lab/referee/results.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "ranks/rank_launch.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

/// Shows how far it is: on a terminal in place, elsewhere now and then.
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

template <typename Real>
int compare_problem(const Config& config, const Objective<Real>& objective, const Contest& contest,
                    const Perform<Real>& perform) {
  const auto notes = notes_of(contest);
  const std::string directory = config::comparison_directory(config);
  const DirectoryLock lock(directory);
  Journal journal(directory + "/journal.jsonl", config::identity_of(config, contest),
                  config::today());
  write_file(directory + "/config.toml", to_toml(config::Command::compare, config));
  const config::OutputSettings& output = config.output;
  if (!output.quiet)
    for (const std::string& note : notes) print_note("{}\n", note);
  if (!output.quiet && journal.found() > 0)
    print_note("resuming: {} runs are finished already\n", journal.found());
  if (journal.damaged() > 0)
    print_note(
        "warning: {}/journal.jsonl has {} that cannot be read; what is missing is computed\n",
        directory, counted(journal.damaged(), "line"));
  std::vector<ContestRow> rows;
  try {
    RunsShown progress(output.quiet);
    rows = hold_contest(objective, contest, journal, std::ref(progress), perform);
  } catch (const ContestInterrupted&) {
    print_note("dasgd: interrupted; finished runs are in {}; the same command continues\n",
               directory);
    return interrupted;
  }
  const auto worlds = judge_worlds(objective, contest, rows);
  WriteAll write;
  const ResultOptions how = config::result_options(config, contest, journal.date());
  write_results(directory, objective, contest, rows, worlds, how, write);
  if (!output.quiet)
    for (const std::string& doubt : doubts_of(contest, worlds)) print_note("note: {}\n", doubt);
  if (output.json)
    print_result_text(results_json(contest, worlds).dump(2) + "\n");
  else if (!output.quiet)
    print_result("{}\n{}/compare.html, compare.csv, curves.csv, compare.json\n",
                 results_text(contest, worlds), directory);
  if (!output.quiet && !output.json && !how.paper.empty())
    print_result("{}: panels as SVG and PDF, table.tex, table.csv, record.txt\n", how.paper);
  write.conclude();
  return done;
}

}  // namespace

int compare_list_command(const Config& config) {
  print_result_text(list_of_rivals(config::known_rivals(config.compare)));
  return done;
}

namespace {

using Rivals = std::vector<ChosenRival>;

int compare_here(Config config, const Rivals& rivals) {
  const Problem problem = leaving_at_once([&] { return read_problem(config); });
  const SignalStop signals(SignalStop::Kind::silent);
  config.run.stop = signals.token();
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        const Contest contest = config::make_contest(config, *objective, rivals);
        return compare_problem<Real>(config, *objective, contest,
                                     perform_on_threads(*objective, contest));
      },
      problem);
}

// Rank 0 compares; the others do what it says.
template <typename Real>
int compare_on_rank(const Config& config, const Objective<Real>& objective, const Rivals& rivals,
                    Ranks& ranks) {
  Contest contest;
  const std::string mistake = mistake_of([&] {
    contest = config::make_contest(config, objective, rivals);
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

int compare_on_ranks(Config config, const Rivals& rivals) {
  if (!may_become_ranks()) return bad_input;
  const SignalStop signals(SignalStop::Kind::quiet_rank);
  config.run.stop = signals.token();
  Ranks ranks;
  if (!is_known_to_mpi(ranks)) return bad_input;
  Problem problem;
  const std::string mistake = mistake_of([&] {
    require_all_processes(ranks);
    problem = read_problem(config);
  });
  if (!ranks.agree(mistake, to_toml(config::Command::compare, config))) return done;
  return std::visit(
      [&](const auto& objective) { return compare_on_rank(config, *objective, rivals, ranks); },
      problem);
}

}  // namespace

int compare_command(const Config& config) {
  const config::CompareSettings& compare = config.compare;
  // Before data is read.
  const Rivals rivals = config::chosen_rivals(compare, config::known_rivals(compare));
  const bool on_ranks = parse_contest_engine(compare.engine) == ContestEngine::mpi;
  return on_ranks ? compare_on_ranks(config, rivals) : compare_here(config, rivals);
}

}  // namespace dasgd::app
