#include "cli/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <string_view>

#include "cli/argument_mistakes.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/models/networks_installed.hpp"
#include "dasgd/record/run_summary.hpp"
#include "manual/manual.hpp"
#include "ranks/rank_launch.hpp"
#include "ranks/ranks.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

std::string torch_library() {
  // NOLINTNEXTLINE(readability-redundant-string-init): empty only where LibTorch is left out
  const std::string built_with = DASGD_TORCH_VERSION;
  if (built_with.empty()) return "LibTorch: none, built without it";
  return "LibTorch: " + built_with +
         (networks_are_installed() ? "" : ", not here: install the package dasgd-networks");
}

std::string in_shell(const std::string& argument) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
  };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

CommandLine::CommandLine()
    : app_("Decentralized asynchronous SGD: no server, no barrier, identical replicas", "dasgd") {
  app_.set_version_flag("--version", [] {
    return fmt::format("dasgd {}\n{}\n{}", version(), Ranks::library(), torch_library());
  });
  app_.require_subcommand(1);
  app_.get_formatter()->column_width(34);
  app_.footer(
      "Examples:\n"
      "  dasgd train --model softmax --data fashion-mnist --workers 4\n"
      "  dasgd train --model quadratic --workers 8 --topology ring --gradients 500 --lr 0.02 "
      "--trace\n"
      "  dasgd simulate --model quadratic --workers 100 --topology torus:10x10 --gradients 50 --lr "
      "1e-4\n"
      "  dasgd advise --model logistic --data path/to/a9a --workers 8\n"
      "  dasgd check runs/NAME/trace.jsonl --eta 0.02 --L 4\n"
      "Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130 interrupted.");
  add_train();
  add_simulate();
  add_advise();
  add_compare();
  add_check();
  add_reproduce();
  add_report();
  add_sweep();
  add_export();
  add_predict();
  add_data();
  add_launch();
  add_join();
  add_member_commands();
  add_manual();
  add_help();
}

void CommandLine::add_manual() {
  CLI::App* const app = app_.add_subcommand(
      "manual", "Write man pages and completion for bash, zsh and fish, made from this help");
  add_option(app, "share", "DIR", manual_.share,
             "target directory, laid out like /usr/share (default: share)", must_not_be_empty);
  app->add_flag("--markdown", manual_.in_markdown,
                "write Markdown pages instead, for the site and docs/command_line.md");
  app->footer(
      "The packages contain all of this.\n"
      "Example:\n"
      "  dasgd manual ~/.local/share");
  when(app, [this] {
    return manual_.in_markdown ? manual_as_markdown_command(app_, manual_.share)
                               : manual_command(app_, manual_.share);
  });
}

void CommandLine::add_help() {
  CLI::App* const app = app_.add_subcommand("help", "Show the help of a command");
  add_option(app, "command", "COMMAND", help_of_, "train, simulate, ...");
  when(app, [this] {
    const CLI::App* of = &app_;
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands(nullptr)) {
      names.push_back(command->get_name());
      if (command->get_name() == help_of_) of = command;
    }
    if (!help_of_.empty() && of == &app_)
      throw InputError("unknown command \"" + help_of_ + "\"" + suggestion(help_of_, names));
    // By itself this would print the help of `help`, the command that was given.
    print_result_text(of == &app_ ? app_.get_formatter()->make_help(&app_, app_.get_name(),
                                                                    CLI::AppFormatMode::Normal)
                                  : of->help("dasgd"));
    return static_cast<int>(done);
  });
}

int CommandLine::run(int argc, char** argv) {
  typed_ = "dasgd";
  for (int k = 1; k < argc; ++k) typed_ += " " + in_shell(argv[k]);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream asked;  // help, or the version
    const int status = app_.exit(success, asked);
    if (is_first_process()) offer_text(asked.str());
    return status;
  } catch (const CLI::ParseError& error) {
    return refuse(explain(app_, error));
  }
  const auto given = std::find_if(actions_.begin(), actions_.end(),
                                  [](const auto& entry) { return entry.first->parsed(); });
  return given == actions_.end() ? bad_input : given->second();
}

int CommandLine::refuse(const std::string& mistake) const {
  const bool may_train = app_.get_subcommands().empty() || app_.got_subcommand("train");
  if (may_train && would_be_ranks())
    return train_command([&]() -> Config { throw InputError(mistake); });
  if (!is_first_process()) return bad_input;  // the same words from every process are noise
  throw InputError(mistake);
}

void CommandLine::add_train() {
  CLI::App* const app = app_.add_subcommand(
      "train", "Train with real workers: threads, MPI ranks, or processes that come and go");
  train_.add_to(*app);
  app->footer(
      "Times are written 50ms, 5us or 1.5s. The run directory gets config.toml, metrics.jsonl,\n"
      "summary.json, model.npy, checkpoints/ and, with --trace, trace.jsonl.\n"
      "Examples:\n"
      "  dasgd train --workers 4                        softmax on Fashion-MNIST\n"
      "  dasgd train --workers 4 --slow 1:10            the same with a worker that is 10x slower\n"
      "  dasgd train --model logistic --data path/to/a9a --batch 64 --epochs 2 --topology "
      "torus:2x3\n"
      "  dasgd train --resume runs/first                continue from its last checkpoint\n"
      "  mpirun -n 8 dasgd train --topology ring        one worker on each of 8 ranks");
  when(app, [this] { return train_command([this] { return train_.resolved(); }); });
}

void CommandLine::add_simulate() {
  CLI::App* const app =
      app_.add_subcommand("simulate", "Simulate the same run in virtual time, deterministically");
  simulate_.add_to(*app);
  app->footer(
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
  when(app, [this] { return simulate_command(simulate_.resolved()); });
}

void CommandLine::add_advise() {
  CLI::App* const app = app_.add_subcommand("advise",
                                            "Measure a problem and its staleness; print a step "
                                            "size that trains well and a proved one");
  advised_.add_to(*app, of_no_use_for_advice);
  add_option(app, "--from", "RUN_DIR", advise_.from, "take the staleness from an earlier run",
             must_not_be_empty);
  add_option(app, "--accuracy", "X", advise_.accuracy, "mean of |grad f|^2 to reach");
  add_option(app, "--least-loss", "X", advise_.least_loss, "inf f, if known");
  add_option(app, "--network", "RATE", advise_.network,
             "recommend relay, message format and look-ahead for cards of this speed, like "
             "1Gbit, 100Mbit or bytes per second, by simulation; \"measured\": as the run of "
             "--from has it",
             must_not_be_empty);
  add_option(app, "--parameters", "N", plan_.parameters,
             "with --network: of a model that is not here, like 124M, instead of --model",
             must_not_be_empty);
  add_option(app, "--plan-time", "T", plan_.time,
             "with --network: no further simulation begins after this time (default: 10s)",
             must_not_be_empty);
  app->footer(
      "A pilot of a second measures staleness on this machine. For workers that are not "
      "here (more\n"
      "than there are cores, or with --compute, --latency, --apply or --start) it is predicted in "
      "virtual time.\n"
      "Limits are proved, published but false in general, or heuristic; docs/theory.md has the "
      "proofs.\n"
      "Examples:\n"
      "  dasgd advise --model logistic --data path/to/a9a --workers 8\n"
      "  dasgd advise --model softmax --workers 64 --topology ring --latency 1ms\n"
      "  dasgd advise --from runs/NAME --accuracy 1e-4\n"
      "  dasgd advise --network 1Gbit --workers 16 --parameters 11M --compute 200ms\n"
      "  dasgd advise --network 100Mbit --from runs/NAME");
  when(app, [this] { return advise(); });
}

int CommandLine::advise() {
  if (!advise_.from.empty() && !std::filesystem::is_directory(advise_.from))
    throw InputError("--from: " + advise_.from + " is not a run directory");
  advise_.config_of_run = !advise_.from.empty() && advised_.config_file.empty();
  if (advise_.config_of_run) advised_.config_file = advise_.from + "/config.toml";
  advise_.world_given = advised_.gave({"--compute", "--latency", "--apply", "--start"});
  advise_.compute_given = advised_.gave({"--compute"});
  for (const auto& value : {advise_.accuracy, advise_.least_loss})
    if (value && !std::isfinite(*value))
      throw InputError("--accuracy and --least-loss are numbers");
  if (advise_.accuracy && !(*advise_.accuracy > 0))
    throw InputError(fmt::format("--accuracy {}: must be positive", *advise_.accuracy));
  advise_.latency_given = advised_.gave({"--latency"});
  const bool plans = !advise_.network.empty();
  if (!plans && !(plan_.parameters.empty() && plan_.time.empty()))
    throw InputError("--parameters and --plan-time are for --network RATE");
  try {
    if (!plan_.parameters.empty()) advise_.parameters = parse_many(plan_.parameters);
    if (!plan_.time.empty()) advise_.plan_time = parse_duration(plan_.time);
  } catch (const InputError& error) {
    throw InputError(std::string("--parameters and --plan-time: ") + error.what());
  }
  advise_.config = advised_.resolved();
  return plans ? plan_command(advise_) : advise_command(advise_);
}

void CommandLine::add_compare() {
  CLI::App* const app = app_.add_subcommand(
      "compare", "Compare DASGD with rivals on the same gradients, clocks and graphs");
  compared_.add_to(*app, nullptr,
                   {belongs_to_rows, "Belong to rows, like dasgd:rule=adam, not to a comparison"});
  app->add_flag("--list", list_rivals_, "print the rivals and the worlds");
  app->footer(
      "Measures the time to --target-loss, --target-accuracy or --target-error of the mean model, "
      "evaluated\nat each --eval-every of virtual time. Step sizes are tuned with equal budgets "
      "and other seeds.\nWrites compare.csv, curves.csv, compare.json and compare.html. The same "
      "command with the same --out\ncontinues an interrupted comparison. Rules and look-ahead "
      "belong to rows: see --list.\n"
      "Examples:\n"
      "  dasgd compare --list\n"
      "  dasgd compare --model quadratic --workers 8 --target-loss 1e-8 --world equal --world "
      "straggler:10 --out runs/quadratic\n"
      "  dasgd compare --rivals dasgd,dasgd:look_ahead=1,minibatch:backup=2 --workers 16 "
      "--target-accuracy 0.82 --quick");
  when(app, [this] {
    Config config = compared_.resolved();
    config.compare.command = typed_;
    return list_rivals_ ? compare_list_command(config) : compare_command(config);
  });
}

void CommandLine::add_reproduce() {
  CLI::App* const app = app_.add_subcommand("reproduce", "Reproduce an experiment of the paper");
  app->add_option("what", reproduce_.what,
                  "logistic, quadratic, cifar: Figure 2 (a), (b), (c); topology: staleness on "
                  "graphs; rivals: published numbers of rivals; network: many workers "
                  "behind thin cards")
      ->type_name(fmt::format("{}", fmt::join(reproducible(), "|")));
  auto* const quick_flag =
      app->add_flag("--quick", reproduce_.quick, "fewer points, under 30 s each; cifar: minutes");
  app->add_flag("--full", figures_.full, "all points (the default)")->excludes(quick_flag);
  add_option(app, "--out", "DIR", reproduce_.out, "directory (default: runs/reproduce-WHAT)");
  FigureChoice& choice = reproduce_.choice;
  add_option(app, "--seeds", "N", choice.seeds, "Figure 2: runs per point (default: 4)",
             must_be_count);
  add_option(app, "--lr", "ETA", choice.eta, "Figure 2: the step size", must_be_positive);
  add_option(app, "--compute", "+T", choice.compute,
             "Figure 2 in real time: added to the time of a gradient (default: 50ms; cifar: "
             "nothing, and T without plus pads); network: that time (default: 1s)");
  add_option(app, "--slow", "X,...", choice.slow,
             "quadratic and logistic: factors by which the second worker is slower; 0: one "
             "worker alone")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  add_option(app, "--target-error", "E", choice.target_error,
             "quadratic and logistic: target error (default: 1e-12)", must_be_positive);
  add_option(app, "--workers", "N,...", choice.workers, "cifar and network: numbers of workers",
             must_be_count)
      ->delimiter(',');
  add_option(app, "--target-loss", "X", choice.target_loss, "cifar: target loss (default: 1)",
             must_be_positive);
  add_option(app, "--give-up", "N", choice.gradients,
             "cifar: give up after this many gradients of all workers (default: 0, never; "
             "with --quick 40,000)");
  add_option(app, "--data", "NAME|DIR", choice.data, "cifar: other images, as for train");
  add_option(app, "--scale", "NAME", choice.scale, "cifar: standard (default), 255 or none")
      ->check(CLI::IsMember({"standard", "255", "none"}));
  add_option(app, "--device", "NAME", choice.device,
             "cifar: cpu (default), or cuda (in virtual time unless --engine is given)")
      ->check(CLI::IsMember({"cpu", "cuda"}));

  add_option(app, "--engine", "NAME", figures_.engine,
             "quadratic, logistic and cifar: threads or mpi (default: mpi under mpirun, else "
             "virtual time, and for cifar on the CPU also threads); quadratic and logistic "
             "need 2 ranks");
  app->footer(
      "Prints a table and writes it as CSV, JSON and SVG, with a page that shows them.\n"
      "Examples:\n"
      "  dasgd reproduce quadratic              Figure 2 (b): iterations with one slow worker of "
      "two\n"
      "  dasgd reproduce quadratic --engine threads --quick     the same on real threads\n"
      "  mpirun -n 2 dasgd reproduce quadratic --quick          and on real ranks\n"
      "  dasgd reproduce all --quick            all that can run here, in minutes\n"
      "  dasgd reproduce cifar --workers 1,4    Figure 2 (c) for some numbers of workers\n"
      "  mpirun -n 25 dasgd reproduce cifar     the same curve on real ranks");
  when(app, [this] {
    reproduce_.engine = config::parse_engine(figures_.engine);
    return reproduce_command(reproduce_);
  });
}

void CommandLine::add_data() {
  CLI::App* const app = app_.add_subcommand("data", "Data sets: where they are, how to get them");
  app->require_subcommand(1);
  when(app->add_subcommand("list", "List the data sets known by name"),
       [] { return data_list_command(); });
  CLI::App* const get = app->add_subcommand("get", "Install and verify a data set");
  add_option(get, "name", "NAME", get_.name, "its name")->required();
  add_option(get, "--from", "FILE.tgz", get_.archive, "a local archive of cifar10",
             must_not_be_empty);
  CLI::App* const describe = app->add_subcommand(
      "describe", "Describe a data set: rows, columns, classes, missing values");
  add_option(describe, "data", "NAME|PATH", describe_.data, "as --data of train")->required();
  add_option(describe, "--label", "COLUMN", describe_.label,
             "the column of the label: name or number");
  add_option(describe, "--exclude", "COLUMN,...", describe_.exclude,
             "columns to leave out: names or numbers");
  add_option(describe, "--resize", "N|HxW", describe_.resize, "resize pictures to this size");
  add_option(describe, "--picture", "FILE.png", describe_.picture,
             "write the first images to this file", must_not_be_empty);
  when(describe, [this] { return data_describe_command(describe_); });
  app->footer(
      "Examples:\n"
      "  dasgd data list\n"
      "  dasgd data describe trees.csv --label kind             rows, columns, classes, what is "
      "missing\n"
      "  dasgd data get cifar10                                 downloads, converts, verifies\n"
      "  dasgd data get cifar10 --from cifar-10-binary.tar.gz   from a file that is here");
  when(get, [this] { return data_get_command(get_.name, get_.archive); });
}

}  // namespace dasgd::app
