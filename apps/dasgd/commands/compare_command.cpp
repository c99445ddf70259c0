#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "commands/commands.hpp"
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
#include "dasgd/referee/worlds.hpp"
#include "dasgd/report/write_report.hpp"
#include "dasgd/rivals/all_rivals.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& usual_rivals() {
  static const std::vector<std::string> names{
      "dasgd",   "minibatch", "asgd",    "delay-adaptive", "ringmaster", "rennala",
      "fedbuff", "d-psgd",    "ad-psgd", "swift",          "local-sgd",  "diloco"};
  return names;
}

std::vector<ChosenRival> chosen_rivals(const config::CompareSettings& compare) {
  std::vector<std::string> texts = compare.rivals.empty() ? usual_rivals() : compare.rivals;
  std::vector<ChosenRival> rivals;
  for (const std::string& text : texts) {
    if (text != "all") {
      rivals.push_back(choose_rival(text, all_rivals()));
      continue;
    }
    for (const RivalKind& kind : all_rivals())
      if (!kind.shares_memory || compare.engine == "threads")
        rivals.push_back(choose_rival(kind.name, all_rivals()));
  }
  std::vector<ChosenRival> different;
  for (ChosenRival& rival : rivals)
    if (std::none_of(different.begin(), different.end(),
                     [&](const auto& other) { return other.label == rival.label; }))
      different.push_back(std::move(rival));
  return different;
}

std::vector<std::pair<std::string, double>> given_steps(const config::CompareSettings& compare,
                                                        const std::vector<ChosenRival>& rivals) {
  std::vector<std::pair<std::string, double>> steps;
  for (const std::string& text : compare.lr) {
    const std::size_t equals = text.rfind('=');
    const std::string label = equals == text.npos ? "" : text.substr(0, equals);
    const bool known = label.empty() || std::any_of(rivals.begin(), rivals.end(), [&](auto& r) {
                         return r.label == label || r.kind.name == label;
                       });
    if (!known) throw InputError("--lr " + text + ": " + label + " is not among the rivals");
    steps.emplace_back(label, parse_real(equals == text.npos ? text : text.substr(equals + 1)));
  }
  return steps;
}

// What a run is told beyond the goal is the referee's business.
ContestWorld contest_world(const std::string& name, const Config& config) {
  ContestWorld world{name, config.run, make_world(config, config.run.workers)};
  TrainOptions& options = world.options;
  options.evaluation = {};
  options.target_loss.reset();
  options.target_error.reset();
  if (!options.max_time) {
    constexpr Nanoseconds gradients = 1000;
    const Nanoseconds usual = config.world.compute.model.draw(0, Purpose::compute_time, 0, 0);
    options.max_time = std::chrono::nanoseconds(std::max<Nanoseconds>(1, usual) * gradients);
  }
  world.world.threads = 1;
  if (!options.rule.is_plain() || !std::holds_alternative<std::monostate>(options.make_rule))
    throw InputError("rivals take plain steps; leave the settings of rules out");
  return world;
}

std::vector<ContestWorld> chosen_worlds(const Config& config, std::size_t model_bytes) {
  const auto& names = config.compare.worlds;
  std::vector<ContestWorld> worlds;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"equal"} : names) {
    if (name.ends_with(".toml")) {
      Config other = config;
      read_config_file(config::Command::simulate, name, {}, other);
      other.run.relay = std::nullopt;
      resolve(other);
      if (other.run.workers != config.run.workers)
        throw InputError("world " + name + ": a world does not change the number of workers");
      worlds.push_back(contest_world(name, other));
    } else {
      worlds.push_back(named_world(name, contest_world(name, config), model_bytes));
    }
    validate(worlds.back().world, graph_of(worlds.back().options));
  }
  return worlds;
}

template <typename Real>
Goal goal_of(const Config& config, const Objective<Real>& objective) {
  const auto& accuracy = config.run.evaluation.target_accuracy;
  const int given = accuracy.has_value() + config.run.target_loss.has_value() +
                    config.run.target_error.has_value();
  if (given > 1)
    throw InputError("give one of --target-loss, --target-accuracy and --target-error");
  if (accuracy) return {Goal::Kind::accuracy, *accuracy};
  if (config.run.target_error) return {Goal::Kind::error, *config.run.target_error};
  if (config.run.target_loss) return {Goal::Kind::loss, *config.run.target_loss};
  const std::vector<Real> x0 = objective.start();
  const double start = objective.evaluate(x0).loss.value_or(objective.loss(x0));
  const double least = objective.known().least_loss.value_or(0);
  return {Goal::Kind::loss, least + (start - least) / 4};
}

// The middle of the steps that are tried: a minibatch step of 1 / L, shared by all workers. Noisy
// problems are flatter than L says almost everywhere.
template <typename Real>
double advised_step(const Config& config, const Objective<Real>& objective) {
  const auto n = static_cast<double>(config.run.workers);
  const auto L = objective.known().smoothness;
  const double share = gradients_have_noise(config.run, objective.samples()) ? 16 / n : 1 / n;
  const double eta = share * (L && *L > 0 ? 1 / *L : config.run.eta);
  return std::exp2(std::round(std::log2(eta)));  // a round number of the grid
}

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
                         "A line per worker (the last one is the last worker), a bar per gradient, "
                         "orange where it was in vain; where there is no bar, a worker waits."};
  for (std::size_t w = 0; w < worlds.size(); ++w)
    picture.drawings.push_back(
        time_lines(worlds[w].name,
                   first_rounds(objective, contest, contest.worlds[w], worlds[w], drawn(worlds[w])),
                   contest.worlds[w].options.workers));
  return picture;
}

template <typename Real>
int compare_problem(const Config& config, const Objective<Real>& objective,
                    const SignalStop& signals) {
  const config::CompareSettings& compare = config.compare;
  Contest contest{.rivals = chosen_rivals(compare),
                  .worlds = chosen_worlds(config, objective.dimension() * sizeof(Real)),
                  .goal = goal_of(config, objective),
                  .every = config.run.evaluation.every.count(),
                  .seeds = compare.seeds.value_or(compare.quick ? 3 : 10),
                  .tuning = {.steps = compare.tune.value_or(compare.quick ? 5 : 9),
                             .seeds = compare.quick ? std::size_t{1} : std::size_t{3}},
                  .advised_eta = advised_step(config, objective),
                  .preempt = compare.preempt,
                  .engine = parse_contest_engine(compare.engine),
                  .seed = config.run.seed};
  contest.given_eta = given_steps(compare, contest.rivals);
  contest.threads = config.world.threads > 1 ? static_cast<unsigned>(config.world.threads)
                                             : std::max(1u, std::thread::hardware_concurrency());
  for (ContestWorld& world : contest.worlds) world.options.stop = signals.token();
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
    rows = hold_contest(objective, contest, journal, std::ref(progress));
  } catch (const ContestInterrupted&) {
    print_note("dasgd: interrupted; what was finished is in {}: the same command goes on there\n",
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

int compare_command(const Config& config) {
  chosen_rivals(config.compare);  // before data is read
  parse_contest_engine(config.compare.engine);
  const SignalStop signals;
  const Problem problem = read_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return compare_problem<Real>(config, *objective, signals);
      },
      problem);
}

}  // namespace dasgd::app
