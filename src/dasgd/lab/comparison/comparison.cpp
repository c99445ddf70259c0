#include "dasgd/lab/comparison/comparison.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/lab/referee/contest/worlds.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/open_library.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/settings/named_files.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"

namespace dasgd::config {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string>& usual_rivals() {
  static const std::vector<std::string> names{
      "dasgd",   "minibatch", "asgd",    "delay-adaptive", "ringmaster", "rennala",
      "fedbuff", "d-psgd",    "ad-psgd", "swift",          "local-sgd",  "diloco"};
  return names;
}

std::vector<std::pair<std::string, double>> given_steps(const CompareSettings& compare,
                                                        const std::vector<ChosenRival>& rivals) {
  std::vector<std::pair<std::string, double>> steps;
  for (const std::string& text : compare.lr) {
    const std::size_t equals = text.rfind('=');
    const std::string label = equals == text.npos ? "" : text.substr(0, equals);
    const bool known = label.empty() || std::any_of(rivals.begin(), rivals.end(), [&](auto& r) {
                         return r.label == label || r.kind.name == label;
                       });
    if (!known) throw InputError("`lr` " + text + ": " + label + " is not among the rivals");
    steps.emplace_back(label, parse_real(equals == text.npos ? text : text.substr(equals + 1)));
  }
  return steps;
}

// A file of a run may bring a rule with it; rows of a comparison have theirs in their names.
void require_plain_steps(const TrainOptions& options) {
  const RuleOptions& rule = options.rule;
  const auto refuse = [](const std::string& instead) {
    throw InputError("a comparison is of plain SGD only: " + instead);
  };
  if (!std::holds_alternative<std::monostate>(options.make_rule)) refuse("no rule of your own");
  if (rule.kind != RuleOptions::Kind::sgd)
    refuse("`rule.kind` sgd instead of " + to_string(rule.kind) +
           "; a row has its own rule, like dasgd:rule=" + to_string(rule.kind));
  if (rule.weight_decay != 0) refuse("`rule.weight_decay` 0");
  if (rule.clip) refuse("no `rule.clip`");
  if (rule.schedule.kind != Schedule::Kind::constant)
    refuse("`rule.schedule` constant instead of " + to_string(rule.schedule));
  if (rule.schedule.warmup != 0) refuse("`rule.warmup` 0");
  if (options.look_ahead)
    throw InputError("`look_ahead` belongs to a row of the comparison: dasgd:look_ahead=" +
                     to_string(*options.look_ahead));
}

// Options of a run beyond the goal are the referee's business.
ContestWorld contest_world(const std::string& name, const Config& config) {
  ContestWorld world{name, config.run, make_world(config, config.run.workers)};
  TrainOptions& options = world.options;
  options.evaluation = {};
  options.on_divergence = OnDivergence::stop;  // rivals know no other
  options.measure_gradients = false;
  options.target_loss.reset();
  options.target_error.reset();
  if (!options.max_time) {
    constexpr Nanoseconds gradients = 2000;
    const Nanoseconds usual = config.world.compute.model.usual();
    options.max_time = std::chrono::nanoseconds(std::max<Nanoseconds>(1, usual) * gradients);
  }
  world.world.threads = 1;
  require_plain_steps(options);
  return world;
}

std::vector<ContestWorld> chosen_worlds(const Config& config, std::size_t model_bytes) {
  const auto& names = config.compare.worlds;
  std::vector<ContestWorld> worlds;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"equal"} : names) {
    if (std::ranges::count(names, name) > 1) throw InputError("world " + name + ": is given twice");
    if (name.ends_with(".toml")) {
      Config other = config;
      read_config_file(Command::simulate, name, {}, other);
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
    throw InputError(
        "give one of `budget.target_loss`, `evaluation.target_accuracy` and `budget.target_error`");
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
  const double share = gradients_have_noise(config.run, objective.samples()) ? 8 / n : 1 / n;
  const double eta = share * (L && *L > 0 ? 1 / *L : config.run.eta);
  return std::exp2(std::round(std::log2(eta)));  // a round number of the grid
}

std::string tuning_text(const Tuning& tuning) {
  if (tuning.steps == 0) return "off";
  return fmt::format("{} step sizes, {} seed{} each", tuning.steps, tuning.seeds,
                     tuning.seeds == 1 ? "" : "s");
}

}  // namespace

std::vector<RivalKind> known_rivals(const CompareSettings& compare, std::vector<RivalKind> own) {
  std::vector<RivalKind> known = with_own(all_rivals(), std::move(own));
  for (const std::string& path : compare.rival_libraries)
    known = with_own(std::move(known), open_rival_library(path));
  return known;
}

std::vector<ChosenRival> chosen_rivals(const CompareSettings& compare,
                                       const std::vector<RivalKind>& known) {
  std::vector<std::string> texts = compare.rivals;
  if (texts.empty()) {
    texts = usual_rivals();
    for (const RivalKind& kind : known)
      if (!kind.edition.empty()) texts.push_back(kind.name);
  }
  std::vector<ChosenRival> rivals;
  for (const std::string& text : texts) {
    if (text != "all") {
      rivals.push_back(choose_rival(text, known));
      continue;
    }
    for (const RivalKind& kind : known)
      if (!kind.shares_memory || compare.engine == "threads")
        rivals.push_back(choose_rival(kind.name, known));
  }
  std::vector<ChosenRival> different;
  for (ChosenRival& rival : rivals)
    if (std::none_of(different.begin(), different.end(),
                     [&](const auto& other) { return other.label == rival.label; }))
      different.push_back(std::move(rival));
  return different;
}

template <typename Real>
Contest make_contest(const Config& config, const Objective<Real>& objective,
                     std::vector<ChosenRival> rivals) {
  const CompareSettings& compare = config.compare;
  Contest contest{.rivals = std::move(rivals),
                  .worlds = chosen_worlds(config, objective.dimension() * sizeof(Real)),
                  .goal = goal_of(config, objective),
                  .every = config.run.evaluation.every.count(),
                  .seeds = compare.seeds.value_or(compare.quick ? 3 : 10),
                  .tuning = {.steps = compare.tune.value_or(compare.quick ? 5 : 9),
                             .seeds = compare.quick ? std::size_t{1} : std::size_t{3},
                             .patience = compare.quick ? 1.25 : 2,
                             .share = compare.quick ? 0.5 : 1,
                             .numbers = !compare.quick},
                  .advised_eta = advised_step(config, objective),
                  .preempt = compare.preempt,
                  .engine = parse_contest_engine(compare.engine),
                  .seed = config.run.seed};
  contest.given_eta = given_steps(compare, contest.rivals);
  contest.threads = config.world.threads > 1 ? static_cast<unsigned>(config.world.threads)
                                             : std::max(1u, std::thread::hardware_concurrency());
  return contest;
}
template Contest make_contest(const Config&, const Objective<float>&, std::vector<ChosenRival>);
template Contest make_contest(const Config&, const Objective<double>&, std::vector<ChosenRival>);

// All that makes a finished run what it is, but for its rival, world, step and seed.
std::string identity_of(const Config& config, const Contest& contest) {
  constexpr int rules = 2;  // by which runs are ended and steps are chosen
  Config bare = config;
  bare.compare = {};
  bare.compare.preempt = contest.preempt;
  bare.output = {};
  bare.world.threads = 1;
  bare.run.evaluation.every = std::chrono::nanoseconds(contest.every);
  bare.run.evaluation.share = 1;
  std::string text = fmt::format("{} rules {} {}\n{}", version(), rules, to_string(contest.goal),
                                 to_toml(Command::compare, bare));
  for (const ContestWorld& world : contest.worlds) {
    if (!world.name.ends_with(".toml")) continue;
    std::ifstream file = open_file(world.name);
    text += std::string(std::istreambuf_iterator<char>(file), {});
  }
  for (const auto& [name, digest] : digests_of_named_files(std::span(&text, 1)))
    text += fmt::format("{} {}\n", name, digest);
  return text;
}

std::string today() {
  const std::chrono::year_month_day date(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

ResultOptions result_options(const Config& config, const Contest& contest,
                             const std::string& date) {
  const CompareSettings& compare = config.compare;
  ResultOptions options{.page = !config.output.no_report, .paper = compare.paper};
  options.paper_options.width_mm = compare.paper_width.value_or(options.paper_options.width_mm);
  options.paper_options.font_pt = compare.paper_font.value_or(options.paper_options.font_pt);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.facts.emplace_back(name, value);
  };
  const TrainOptions& run = contest.worlds.front().options;
  add("model", config.problem.model);
  add("data", fs::path(config.problem.data).filename().string());
  add("batch", run.batch.value_or(0) == 0 ? "all samples" : std::to_string(*run.batch));
  add("workers", std::to_string(run.workers));
  add("goal", for_people(contest.goal));
  add("seeds",
      fmt::format("{} ({} to {})", contest.seeds, contest.seed, contest.seed + contest.seeds - 1));
  add("tuning", tuning_text(contest.tuning) + (compare.quick ? " (quick)" : ""));
  std::string own;
  bool in_python = false;
  for (const ChosenRival& rival : contest.rivals) {
    if (rival.kind.edition.empty()) continue;
    in_python = in_python || rival.kind.edition.starts_with("python-");
    own += fmt::format("{}{} ({})", own.empty() ? "" : ", ", rival.label, rival.kind.edition);
  }
  add("own rivals", own);
  add("command", in_python                 ? "dasgd.compare(config=\"config.toml\", rivals=[...])"
                 : compare.command.empty() ? "dasgd compare config.toml"
                                           : compare.command);
  add("version", "dasgd " + std::string(version()));
  add("date", date);
  return options;
}

std::string comparison_directory(const Config& config) {
  const std::string path =
      config.output.out.empty() ? "runs/compare-" + config.problem.model : config.output.out;
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw InputError("`output.out` " + path + ": cannot be made a directory: " + error.message());
  if (!fs::is_empty(path) && !fs::exists(path + "/journal.jsonl"))
    throw InputError("`output.out` " + path +
                     ": has files that do not belong to a comparison; choose another directory");
  return path;
}

}  // namespace dasgd::config
