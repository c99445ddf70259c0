#include "sweep/sweep_command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "dasgd/archive/directory_lock.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/report/tables/export.hpp"
#include "sweep/sweep_progress.hpp"
#include "terminal/children.hpp"
#include "terminal/exit_status.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"
#include "terminal/status_line.hpp"

namespace dasgd::app {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
namespace {

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::string last_line_of(const std::string& path) {
  std::ifstream file = open_file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  return last;
}

/// The unfinished runs of a plan, several at a time.
class SweepRuns {
 public:
  SweepRuns(const SweepRequest& request, const SweepPlan& plan, std::size_t jobs)
      : request_(request), plan_(plan), jobs_(jobs), progress_(plan.settings, jobs) {
    // All settings with their first seed come before any second seed: a sweep that is stopped
    // early has something of everything, and soon knows how long the rest takes.
    std::map<std::size_t, std::size_t> seeds;
    std::map<std::size_t, std::deque<std::size_t>> rounds;
    for (std::size_t k = 0; k < plan.sweep.runs.size(); ++k) {
      const std::size_t round = seeds[plan.settings[k]]++;
      if (is_finished_run(path(k))) {
        note_end(k);
        progress_.skip(k);
      } else {
        rounds[round].push_back(k);
      }
    }
    for (const auto& [round, runs] : rounds) left_.insert(left_.end(), runs.begin(), runs.end());
  }

  std::size_t unfinished() const { return left_.size(); }
  std::size_t diverged() const { return diverged_; }
  const std::vector<std::string>& failures() const { return failures_; }

  /// Until all have ended, or a stop is asked for.
  void run(Children& children, StatusLine& status, const std::stop_token& stop) {
    const auto start = Clock::now();
    while (!stop.stop_requested() && (!left_.empty() || children.running() > 0)) {
      while (!left_.empty() && children.running() < jobs_) begin(children);
      for (const Children::Ended& ended : children.wait(std::chrono::milliseconds(200)))
        take(ended, status);
      status.show(progress_.describe(children.running(), diverged_, failures_.size()),
                  seconds_since(start));
    }
    status.clear();
    end_early(children);
  }

 private:
  std::string path(std::size_t k) const {
    return sweep_run_path(request_.out, plan_.sweep.runs[k].name);
  }
  std::string log(std::size_t k) const {
    return request_.out + "/logs/" + plan_.sweep.runs[k].name + ".txt";
  }

  std::vector<std::string> command(std::size_t k) const {
    std::vector<std::string> words;
    if (request_.engine == "mpi") {
      words = split(request_.launcher, ' ');
      words.insert(words.end(), {"-n", std::to_string(plan_.workers[k])});
    }
    words.insert(words.end(), {fs::read_symlink("/proc/self/exe").string(),
                               plan_.command == config::Command::simulate ? "simulate" : "train",
                               sweep_config_path(request_.out, plan_.sweep.runs[k].name), "--out",
                               path(k), "--no-report", "--quiet"});
    return words;
  }

  void begin(Children& children) {
    const std::size_t k = left_.front();
    left_.pop_front();
    wait_until_free(path(k));
    started_[k] = Clock::now();
    const int words = ::open(log(k).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    children.start(k, command(k), {.err = words}, request_.engine == "mpi" ? SIGTERM : SIGKILL);
    if (words >= 0) ::close(words);
  }

  // A run of a sweep that was killed a moment ago may not be gone yet.
  static void wait_until_free(const std::string& directory) {
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (fs::is_directory(directory)) {
      try {
        const DirectoryLock lock(directory);
        return;
      } catch (const InputError&) {
        if (Clock::now() > until) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
  }

  void take(const Children::Ended& ended, StatusLine& status) {
    const std::size_t k = ended.job;
    progress_.finish(k, seconds_since(started_[k]));
    std::error_code ignored;
    if (is_finished_run(path(k))) {
      note_end(k);
      if (fs::file_size(log(k), ignored) == 0) fs::remove(log(k), ignored);
      return;
    }
    const std::string why = last_line_of(log(k));
    failures_.push_back(plan_.sweep.runs[k].name);
    status.say(fmt::format("dasgd: {}: {}", plan_.sweep.runs[k].name,
                           why.empty() ? fmt::format("ended with status {}", ended.status) : why));
  }

  void note_end(std::size_t k) {
    std::ifstream file = open_file(path(k) + "/summary.json");
    const auto summary = parse_json(file);
    if (summary.value("stop_reason", "") == "diverged") ++diverged_;
  }

  static void end_early(Children& children) {
    children.signal_all(SIGTERM);
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (children.running() > 0 && Clock::now() < until)
      children.wait(std::chrono::milliseconds(200));
  }

  const SweepRequest& request_;
  const SweepPlan& plan_;
  const std::size_t jobs_;
  SweepProgress progress_;
  std::deque<std::size_t> left_;
  std::map<std::size_t, Clock::time_point> started_;
  std::size_t diverged_ = 0;
  std::vector<std::string> failures_;
};

// Simulations want a core each; real runs have workers of their own, which would get in each
// other's way.
std::size_t usual_jobs(const SweepRequest& request) {
  return request.engine == "simulate" ? std::max(1u, std::thread::hardware_concurrency()) : 1;
}

}  // namespace

int sweep_command(const SweepRequest& request) {
  if (config::find_launch())
    throw InputError("dasgd sweep starts its runs itself: use --engine mpi instead of mpirun");
  const auto start = Clock::now();
  const SweepPlan plan = plan_sweep(request);
  std::error_code error;
  fs::create_directories(request.out, error);
  if (error || !fs::is_directory(request.out))
    throw InputError("--out " + request.out + ": cannot be made a directory");
  const DirectoryLock lock(request.out);
  open_sweep(plan, request.out);
  fs::create_directories(request.out + "/logs");
  Children children;
  const SignalStop signals(SignalStop::Kind::sweep);
  StatusLine status(request.quiet);
  SweepRuns runs(request, plan, request.jobs.value_or(usual_jobs(request)));
  const std::size_t all = plan.sweep.runs.size(), kept = all - runs.unfinished();
  if (kept > 0 && !request.quiet)
    status.say(fmt::format("{} of {} runs are finished already", kept, all));
  runs.run(children, status, signals.token());
  if (signals.token().stop_requested()) return interrupted;
  report::export_runs({request.out}, request.out);
  if (!request.no_report && runs.failures().size() < all)
    report::write_sweep_report(request.out, request.out);
  if (!request.quiet) {
    offer_text(fmt::format("swept {} runs in {:.1f} s\n  {:<11}{}\n  {:<11}{}\n", all,
                           seconds_since(start), "diverged", runs.diverged(), "written to",
                           request.out));
  }
  if (runs.failures().empty()) return done;
  throw std::runtime_error(fmt::format(
      "{} of {} runs failed; {}/logs has their errors, and the same command retries them",
      runs.failures().size(), all, request.out));
}

}  // namespace dasgd::app
