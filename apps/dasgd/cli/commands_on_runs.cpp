// The commands that look at runs, or make many of them.
#include <chrono>
#include <fmt/format.h>
#include <functional>

#include "cli/argument_mistakes.hpp"
#include "cli/command_line.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/run.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::app {
namespace {

// Virtual time repeats to the bit and needs no machine of its own, so it is the default. A file
// that cannot be read is reported where it is read as a config.
std::string engine_in(const std::string& config_file) {
  try {
    const auto config = report::flat_config(text_of_file(config_file));
    const auto engine = config.find("engine");
    if (engine == config.end() || !engine->is_string()) return "simulate";
    return *engine == "auto" ? "threads" : engine->get<std::string>();
  } catch (const InputError&) {
    return "simulate";
  }
}

using Time = std::chrono::nanoseconds;

void add_duration(CLI::App* app, const std::string& option, Time (*parse)(const std::string&),
                  const std::function<void(Time)>& set, const std::string& help) {
  app->add_option_function<std::string>(
         option,
         [=](const std::string& text) {
           try {
             set(parse(text));
           } catch (const InputError& error) {
             throw InputError(fmt::format("{} {}: {}", option, text, error.what()));
           }
         },
         help)
      ->type_name("T");
}

}  // namespace

void CommandLine::add_check() {
  CLI::App* const app = app_.add_subcommand("check", "Audit a trace and recompute its staleness");
  add_option(app, "trace", "TRACE.jsonl|RUN_DIR...", check_.paths,
             "a trace of train --trace, or its run directory; for an elastic run the "
             "directories of all members")
      ->required();
  add_option(app, "--eta", "X", check_.options.eta, "step size to certify");
  add_option(app, "--L", "X", check_.options.L, "smoothness constant of the objective");
  add_duration(
      app, "--tolerance", parse_duration,
      [this](auto time) { check_.options.tolerance = time.count(); },
      "tolerance between clocks (default: as the trace states; 0 on one machine)");
  app->add_flag("--json", check_.json, "print one JSON object with all events");
  app->footer(
      "Checks that counters are consecutive, that every worker applies every gradient once, "
      "not\nbefore it was computed, own gradients at once, and that S and S_hat are correct.\n"
      "Members of an elastic run need no trace: it compares their gradients and models, and says "
      "what\nwas lost. Exit status 1 and the first violation where something is wrong.");
  when(app, [this] { return check_command(check_); });
}

void CommandLine::add_report() {
  CLI::App* const app =
      app_.add_subcommand("report", "Write a page with the charts of one run, or of several");
  add_option(app, "runs", "RUN_DIR...", report_.runs, "run directories")->required();
  add_option(app, "--out", "DIR", report_.out,
             "where to write (default: the run directory; runs/report for several runs)");
  app->add_flag("--text", report_.text, "print a summary with sparklines and write nothing");
  app->footer(
      "Writes report.html, which needs no network, charts/*.svg and, of a run with --trace,\n"
      "trace.chrome.json for chrome://tracing and ui.perfetto.dev. A run that was killed is shown "
      "as "
      "far\nas it goes. Every train, simulate and reproduce ends with its report.\n"
      "Examples:\n"
      "  dasgd report runs/first\n"
      "  dasgd report runs/a runs/b --out runs/a-and-b    side by side\n"
      "  dasgd report --text runs/first                   on a terminal");
  when(app, [this] { return report_command(report_); });
}

void CommandLine::add_sweep() {
  CLI::App* const app = app_.add_subcommand("sweep", "Run many combinations of settings and seeds");
  swept_.add_to(*app, of_no_use_for_sweeps);
  add_option(app, "--vary", "KEY=SPEC", sweep_.vary,
             "a key of the TOML file and its values: KEY=a,b,c, KEY=a..b:log:n or KEY=a..b:lin:n; "
             "several keys are combined in all ways, KEY+KEY=a+b,c+d changes keys together")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_option(app, "--seeds", "N", sweep_.seeds, "runs of each setting, with seeds from --seed on",
             must_be_count);
  add_option(app, "--jobs", "N", sweep_.jobs,
             "runs at a time (default: one per core in virtual time, else 1)", must_be_count);
  add_option(app, "--engine", "NAME", sweep_.engine,
             "simulate, threads or mpi (default: the key engine of BASE.toml, or simulate)");
  add_option(app, "--launcher", "COMMAND", sweep_.launcher,
             "mpi: the launcher of the ranks (default: mpirun)", must_not_be_empty);
  add_option(app, "--out", "DIR", sweep_.out, "the directory of the sweep", must_not_be_empty)
      ->required();
  app->footer(
      "The base is BASE.toml, or the options of train and simulate above, or both. Each run has "
      "its own\ndirectory in DIR/runs. A sweep can be interrupted: the same command runs what is "
      "not finished yet. It\nends with DIR/report.html and the tables of dasgd export.\n"
      "Examples:\n"
      "  dasgd sweep base.toml --vary lr=1e-4..1e-1:log:7 --vary workers=1,10,100 --seeds 5 --out "
      "runs/steps\n"
      "  dasgd sweep --model quadratic --lr 0.001 --vary topology.kind=full,ring,star --workers 16 "
      "--out runs/graphs\n"
      "  dasgd sweep --engine threads --epochs 1 --vary batch=16,64,256 --seeds 3 --out "
      "runs/batches");
  when(app, [this] { return sweep(); });
}

int CommandLine::sweep() {
  if (sweep_.engine.empty()) sweep_.engine = engine_in(swept_.config_file);
  sweep_.quiet = swept_.gave({"--quiet"});
  sweep_.no_report = swept_.gave({"--no-report"});
  sweep_.resolve = [this](Command command, SweepRequest::Values values) {
    if (command == Command::train) values.emplace_back("engine", sweep_.engine);
    return swept_.for_run(command, values).resolved();
  };
  return sweep_command(sweep_);
}

void CommandLine::add_export() {
  CLI::App* const app = app_.add_subcommand("export", "Export runs as CSV tables");
  add_option(app, "paths", "DIR...", export_.paths, "directories of sweeps or runs")->required();
  add_option(app, "--out", "DIR", export_.out,
             "where to write (default: the directory; runs/export for several)");
  app->add_flag("--no-wall-time", export_.no_wall_time,
                "leave out wall_seconds, so that two sweeps in virtual time have equal tables");
  app->footer(
      "runs.csv has a line for each run: the varied settings, the seed, and the values of "
      "its\nsummary.json. metrics.csv has a line for each line of metrics.jsonl, workers.csv one "
      "for each\nworker of each run. Fields are quoted where needed; missing values are empty.\n"
      "Examples:\n"
      "  dasgd export runs/steps\n"
      "  dasgd export runs/a runs/b --out runs/tables");
  when(app, [this] { return export_command(export_); });
}

void CommandLine::add_launch() {
  CLI::App* const app = app_.add_subcommand("launch", "Start a program once per worker");
  add_option(app, "-n,--workers", "N", launch_.workers, "number of workers (default: 2)",
             must_be_count);
  app->add_flag("--bare", launch_.bare, "do not prefix output lines with the rank");
  app->add_flag("--elastic", launch_.elastic,
                "make the workers members of an elastic run: one that dies is replaced");
  add_option(app, "--listen", "HOST:PORT", launch_.listen,
             "elastic, and members on other machines can join at this address", must_not_be_empty);
  add_option(app, "--join", "HOST:PORT[,...]", launch_.join,
             "workers join the elastic run of another launch", must_not_be_empty);
  add_option(app, "--token-file", "FILE", launch_.token_file, "the token of that run",
             must_not_be_empty);
  add_option(app, "--advertise", "HOST:PORT", launch_.advertise,
             "elastic: address at which others reach the first worker, if different from --listen; "
             "its host for all workers",
             must_not_be_empty);
  add_duration(
      app, "--gone-after", config::parse_timeout, [this](auto time) { launch_.gone_after = time; },
      "elastic: a member that is silent for this long is no longer awaited (default: 10s)");
  add_option(app, "--restarts", "N", launch_.restarts,
             "elastic: how often one worker is replaced (default: 3)", must_be_count_or_zero);
  add_option(app, "--out", "DIR", launch_.out,
             "elastic: keep the token and a directory per member here, for dasgd status",
             must_not_be_empty);
  add_option(app, "program", "-- PROGRAM ...", launch_.program,
             "the program and its arguments, after --")
      ->required();
  app->positionals_at_end();
  app->footer(
      "Starts the program with mpirun on this machine, one process per worker; signals "
      "reach all of "
      "them.\n"
      "A worker that fails ends the others. Lines of a worker begin with its rank.\n"
      "Elastic workers need no MPI. One that dies is reported and replaced by a new member; the "
      "others go on.\nThe status is 0 when a worker reached the end of the run.\n"
      "Examples:\n"
      "  dasgd launch -n 4 -- python3 train.py --epochs 3\n"
      "  dasgd launch -n 4 --listen 0.0.0.0:7070 --out runs/a -- python3 train.py\n"
      "  dasgd launch -n 2 --join 10.0.0.1:7070 --token-file token -- python3 train.py");
  when(app, [this] { return launch_command(launch_); });
}

void CommandLine::add_predict() {
  CLI::App* const app = app_.add_subcommand("predict", "Predict raw data with a trained model");
  add_option(app, "model", "RUN_DIR|MODEL.pt", predict_.model,
             "the directory of a run, or a TorchScript file")
      ->required();
  add_option(app, "data", "DATA|-", predict_.data,
             "rows or images, as for --data of train; -: CSV on standard input")
      ->required();
  add_option(app, "--out", "FILE", predict_.out, "write to this file instead of standard output",
             must_not_be_empty);
  app->add_flag("--json", predict_.json, "lines of JSON instead of CSV");
  app->footer(
      "Prints a header and a line for each row, in the order of the data: "
      "row,prediction,p_CLASS,... "
      "with\nthe probability of each class, or row,prediction for numeric targets. Rows "
      "count "
      "from 0.\nColumns are found by the names of the header, else by their order; a label is not "
      "needed, and where\nthere is one, standard error says how many answers are correct. RUN_DIR "
      "stands for the final model\nof the run.\n"
      "Examples:\n"
      "  dasgd predict runs/first new.csv --out answers.csv\n"
      "  dasgd predict runs/net/model.best.pt new.csv --json    # a network: its best model\n"
      "  tail -n 5 new.csv | dasgd predict runs/first -");
  when(app, [this] { return predict_command(predict_); });
}

}  // namespace dasgd::app
