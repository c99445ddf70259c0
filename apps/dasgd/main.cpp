// dasgd: the command line. Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130
// interrupted.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <signal.h>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "config_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/core/nearest_word.hpp"
#include "dasgd/record/run_summary.hpp"
#include "rank_launch.hpp"
#include "recorded_run.hpp"
#include "resume.hpp"
#include "settings.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

// What advice has no use for, but the config of a run that it reads may say.
bool only_in_files_of_runs(const std::string& key) {
  const auto& simulated = settings(Command::simulate);
  const auto same = [&](const Setting& setting) { return setting.key == key; };
  return key == "output.out" || key == "output.trace" || key.starts_with("evaluation.") ||
         std::none_of(simulated.begin(), simulated.end(), same);
}

/// A run's settings as they were given: on the command line, on top of a config file.
struct RunArguments {
  const Command command;
  std::string config_file = {};
  std::vector<std::pair<const Setting*, std::string>> given = {};
  std::string from = {};

  void add_to(CLI::App& app) {
    app.add_option("config", config_file, "TOML file; every option below has its key there")
        ->type_name("CONFIG.toml");
    if (command == Command::simulate)
      app.add_option("--from", from,
                     "predict a recorded run: its config, and its times replayed from its trace")
          ->type_name("RUN_DIR")
          ->excludes("config");
    for (const Setting& setting : settings(command)) {
      if (command == Command::advise && only_in_files_of_runs(setting.key)) continue;
      const auto remember = [this, &setting](const std::string& value) {
        given.emplace_back(&setting, value);
      };
      const std::string help = setting.help + (setting.in_files ? "  [" + setting.key + "]" : "");
      if (setting.kind == Setting::Kind::flag) {
        app.add_flag_callback(
            setting.option, [remember] { remember("true"); }, help);
        continue;
      }
      auto* const option = app.add_option_function<std::vector<std::string>>(
          setting.option,
          [remember](const std::vector<std::string>& values) {
            for (const std::string& value : values) remember(value);
          },
          help);
      const bool may_stand_alone = setting.kind == Setting::Kind::optional_value;
      option->type_name(setting.placeholder)->expected(may_stand_alone ? 0 : 1, 1);
      option->allow_extra_args(false);
      option->multi_option_policy(setting.kind == Setting::Kind::repeatable
                                      ? CLI::MultiOptionPolicy::TakeAll
                                      : CLI::MultiOptionPolicy::Throw);
    }
  }

  bool gave(const std::set<std::string>& options) const {
    return std::any_of(given.begin(), given.end(),
                       [&](const auto& entry) { return options.contains(entry.first->option); });
  }

  Config resolved() const {
    Config config;
    std::set<std::string> overridden;
    for (const auto& [setting, value] : given) overridden.insert(setting->key);
    for (const auto& [setting, value] : given) {
      try {
        setting->set(config, value);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{} {}: {}", setting->option, value, error.what()));
      }
    }
    const std::string file = config.resume.empty() ? config_file : config_of(config, config_file);
    if (!file.empty()) read_config_file(command, file, overridden, config);
    config.ranks.workers_give_way = !config.resume.empty() && !overridden.contains("workers");
    if (!from.empty()) {
      read_recorded_config(from, overridden, config);
      config.from = from;
    }
    if (command == Command::train) set_default_evaluation(config);
    resolve(config);
    return config;
  }
};

// What CLI11 has to say, as one line with a suggestion.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : command->get_options()) options.push_back(option->get_name());
  for (const CLI::App* sub : command->get_subcommands({})) commands.push_back(sub->get_name());
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    if (!word.starts_with("-") && !commands.empty())
      return fmt::format("unknown command \"{}\"{}", word, suggestion(word, commands));
    const std::string nearest = nearest_word(word, options);
    return fmt::format("unknown {} {}{}", word.starts_with("-") ? "option" : "argument", word,
                       nearest.empty() ? "; see: dasgd --help" : "; did you mean " + nearest + "?");
  }
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int run(int argc, char** argv) {
  CLI::App app{"Decentralized asynchronous SGD: no server, no barrier, identical replicas.",
               "dasgd"};
  app.set_version_flag("--version", fmt::format("dasgd {}", version()));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  dasgd train --model softmax --data fashion-mnist --workers 4\n"
      "  dasgd train --model quadratic --workers 8 --topology ring --gradients 500 --lr 0.02 "
      "--trace\n"
      "  dasgd simulate --model quadratic --workers 100 --topology torus:10x10 --gradients 50\n"
      "  dasgd advise --model logistic --data path/to/a9a --workers 8\n"
      "  dasgd check runs/NAME/trace.jsonl --eta 0.02 --L 4\n"
      "Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130 interrupted.");

  RunArguments train{Command::train};
  CLI::App* const train_app =
      app.add_subcommand("train", "Train with real workers: threads, or MPI ranks");
  train.add_to(*train_app);
  train_app->footer(
      "Times are written 50ms, 5us or 1.5s. The run directory gets config.toml, metrics.jsonl,\n"
      "summary.json, model.npy, checkpoints/ and, with --trace, trace.jsonl.\n"
      "Examples:\n"
      "  dasgd train --workers 4                        softmax on Fashion-MNIST\n"
      "  dasgd train --workers 4 --slow 1:10            the same with a worker that is 10x slower\n"
      "  dasgd train --model logistic --data path/to/a9a --batch 64 --epochs 2 --topology "
      "torus:2x3\n"
      "  dasgd train --resume runs/first                go on from its last checkpoint\n"
      "  mpirun -n 8 dasgd train --topology ring        one worker on each of 8 ranks");

  RunArguments simulate{Command::simulate};
  CLI::App* const simulate_app =
      app.add_subcommand("simulate", "The same run in virtual time, deterministically");
  simulate.add_to(*simulate_app);
  simulate_app->footer(
      "Calls the same worker code as train. Same seed, same bytes in the trace. Chaos (--delay, "
      "--reorder,\n"
      "--duplicate, --drop, --pause, --partition) is drawn from the seed; delivery stays "
      "exactly-once.\n"
      "Examples:\n"
      "  dasgd simulate --model quadratic --workers 2 --slow 1:100 --lr 0.002 --target-error "
      "1e-12\n"
      "  dasgd simulate --model quadratic --workers 25 --topology ring --relay apply --gradients "
      "100\n"
      "  dasgd simulate --model logistic --workers 8 --compute lognormal:50ms:0.5 --drop 0.1 "
      "--trace");

  RunArguments advise_arguments{Command::advise};
  AdviseRequest advise;
  CLI::App* const advise_app = app.add_subcommand(
      "advise", "Measure a problem and its staleness; print safe step sizes with their grounds");
  advise_arguments.add_to(*advise_app);
  advise_app->add_option("--from", advise.from, "take the staleness of an earlier run")
      ->type_name("RUN_DIR");
  advise_app->add_option("--accuracy", advise.accuracy, "mean of |grad f|^2 to be promised")
      ->type_name("X");
  advise_app->add_option("--least-loss", advise.least_loss, "inf f, if known")->type_name("X");
  advise_app->footer(
      "A pilot of a second measures staleness on this machine. For workers that are not "
      "here (more\n"
      "than there are cores, or with --compute, --latency, --apply or --start) it is predicted in "
      "virtual time.\n"
      "Limits are proved, published but false in general, or heuristic; docs/theory.md has the "
      "proofs.\n"
      "Examples:\n"
      "  dasgd advise --model logistic --data path/to/a9a --workers 8\n"
      "  dasgd advise --model softmax --workers 64 --topology ring --latency 1ms\n"
      "  dasgd advise --from runs/NAME --accuracy 1e-4");

  CheckRequest check;
  CLI::App* const check_app =
      app.add_subcommand("check", "Audit a trace and recompute its staleness");
  check_app->add_option("trace", check.path, "the trace, as train --trace writes it")
      ->required()
      ->type_name("TRACE.jsonl");
  check_app->add_option("--eta", check.eta, "step size to certify")->type_name("X");
  check_app->add_option("--L", check.L, "smoothness constant of the objective")->type_name("X");
  check_app
      ->add_option_function<std::string>(
          "--tolerance",
          [&check](const std::string& text) {
            try {
              check.tolerance = parse_duration(text).count();
            } catch (const InputError& error) {
              throw InputError(fmt::format("--tolerance {}: {}", text, error.what()));
            }
          },
          "how far clocks may be apart (default: what the trace states; 0 on one machine)")
      ->type_name("T");
  check_app->add_flag("--json", check.json, "print one JSON object with every event");
  check_app->footer(
      "Checks that counters are consecutive, every gradient is applied once by every worker, "
      "never\n"
      "before it was computed, own gradients at once, and that S and S_hat are right where "
      "written.\n"
      "Exit status 1 and the first violated line when the trace is broken.");

  const auto positive_number = [](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return *end == '\0' && value > 0 && std::isfinite(value) ? ""
                                                             : text + " is not a positive number";
  };
  ReproduceRequest reproduce;
  CLI::App* const reproduce_app =
      app.add_subcommand("reproduce", "Repeat an experiment of the paper in virtual time");
  reproduce_app
      ->add_option(
          "what", reproduce.what,
          "logistic, quadratic and cifar: figures (a), (b) and (c); topology: staleness on graphs")
      ->type_name(fmt::format("{}", fmt::join(reproducible(), "|")));
  bool full = false;
  auto* const quick_flag = reproduce_app->add_flag(
      "--quick", reproduce.quick, "a part of the points, under 30 s each; cifar: 3 min");
  reproduce_app->add_flag("--full", full, "all points (the default)")->excludes(quick_flag);
  reproduce_app->add_option("--out", reproduce.out, "directory (default: runs/reproduce-WHAT)")
      ->type_name("DIR");
  reproduce_app
      ->add_option("--workers", reproduce.scaling.workers, "of cifar: how many, one by one")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000))
      ->type_name("N,...");
  reproduce_app->add_option("--seeds", reproduce.scaling.seeds, "of cifar: runs of each")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  reproduce_app->add_option("--lr", reproduce.scaling.eta, "of cifar: the step size")
      ->check(positive_number)
      ->type_name("ETA");
  reproduce_app
      ->add_option("--target-loss", reproduce.scaling.target_loss, "of cifar: where a run ends")
      ->check(positive_number)
      ->type_name("X");

  std::string reproduce_engine = "auto";
  reproduce_app
      ->add_option(
          "--engine", reproduce_engine,
          "of cifar: mpi for one worker alone and one on every rank (default under mpirun)")
      ->type_name("NAME");

  ReportRequest report;
  CLI::App* const report_app =
      app.add_subcommand("report", "Write a page with the charts of one run, or of several");
  report_app->add_option("runs", report.runs, "run directories")
      ->required()
      ->type_name("RUN_DIR...");
  report_app
      ->add_option("--out", report.out,
                   "where to write (default: the run directory; runs/report for several runs)")
      ->type_name("DIR");
  report_app->add_flag("--text", report.text, "print a summary with sparklines, write nothing");
  report_app->footer(
      "Writes report.html, which needs no network, charts/*.svg and, of a run with --trace,\n"
      "trace.chrome.json for chrome://tracing and ui.perfetto.dev. A run that was killed is shown "
      "as "
      "far\nas it goes. Every train, simulate and reproduce ends with its report.\n"
      "Examples:\n"
      "  dasgd report runs/first\n"
      "  dasgd report runs/a runs/b --out runs/a-and-b    side by side\n"
      "  dasgd report --text runs/first                   on a terminal");

  CLI::App* const data_app =
      app.add_subcommand("data", "Data sets: where they are, how to get them");
  data_app->require_subcommand(1);
  CLI::App* const list_app = data_app->add_subcommand("list", "List the data sets known by name");
  CLI::App* const get_app = data_app->add_subcommand("get", "Install and verify a data set");
  std::string name;
  get_app->add_option("name", name, "its name")->required()->type_name("NAME");
  std::string archive;
  get_app->add_option("--from", archive, "an archive of cifar10 that is here already")
      ->type_name("FILE.tgz");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return is_first_process() ? app.exit(success) : done;
  } catch (const CLI::ParseError& error) {
    if (!is_first_process()) return bad_input;  // the same words from every rank are noise
    throw InputError(explain(app, error));
  }
  if (*train_app) return train_command([&] { return train.resolved(); });
  if (*simulate_app) return simulate_command(simulate.resolved());
  if (*advise_app) {
    if (!advise.from.empty() && !std::filesystem::is_directory(advise.from))
      throw InputError("--from " + advise.from + ": is no run directory");
    if (!advise.from.empty() && advise_arguments.config_file.empty())
      advise_arguments.config_file = advise.from + "/config.toml";
    advise.world_given = advise_arguments.gave({"--compute", "--latency", "--apply", "--start"});
    advise.compute_given = advise_arguments.gave({"--compute"});
    for (const auto& value : {advise.accuracy, advise.least_loss})
      if (value && !std::isfinite(*value))
        throw InputError("--accuracy and --least-loss are numbers");
    if (advise.accuracy && !(*advise.accuracy > 0))
      throw InputError(fmt::format("--accuracy {}: must be positive", *advise.accuracy));
    advise.config = advise_arguments.resolved();
    return advise_command(advise);
  }
  if (*check_app) return check_command(check);
  if (*reproduce_app) {
    reproduce.engine = parse_engine(reproduce_engine);
    return reproduce_command(reproduce);
  }
  if (*report_app) return report_command(report);
  if (*list_app) return data_list_command();
  if (*get_app) return data_get_command(name, archive);
  return bad_input;
}

}  // namespace
}  // namespace dasgd::app

int main(int argc, char** argv) {
  using namespace dasgd;
  ::signal(SIGXFSZ,
           SIG_IGN);  // a file that may not grow is an error to report, not a reason to die
  const auto fail = [](const std::string& what, int status) {
    fmt::print(stderr, "dasgd: {}\n", what);
    return status;
  };
  try {
    const int status = app::run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail("standard output cannot be written", app::run_failed);
    return status;
  } catch (const InputError& error) {
    return fail(error.what(), app::bad_input);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; use fewer workers or a smaller model, --batch or --in-flight",
                app::run_failed);
  } catch (const std::exception& error) {
    return fail(error.what(), app::run_failed);
  }
}
