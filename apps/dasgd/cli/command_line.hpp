// The commands of dasgd, their options, and what --help says of them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_arguments.hpp"
#include "commands/commands.hpp"
#include "reproduce/reproduce.hpp"
#include "sweep/sweep_command.hpp"

namespace dasgd::app {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Does what the arguments say and returns the exit status. Throws InputError for what they
  /// cannot mean.
  int run(int argc, char** argv);

 private:
  /// Reports the mistake once: by throwing InputError, or by way of the other processes of a job,
  /// which would wait for this one.
  int refuse(const std::string& mistake) const;
  using Action = std::function<int()>;

  void add_train();
  void add_simulate();
  void add_advise();
  void add_compare();
  void add_check();
  void add_reproduce();
  void add_report();
  void add_sweep();
  void add_export();
  void add_predict();
  void add_data();
  void add_launch();
  void add_join();
  void add_member_commands();
  void add_manual();
  void add_help();

  /// What to do when this command was given.
  void when(const CLI::App* command, Action action) {
    actions_.emplace_back(command, std::move(action));
  }
  int advise();
  int sweep();

  CLI::App app_;
  std::vector<std::pair<const CLI::App*, Action>> actions_;
  std::string typed_;  ///< the command, as a shell would read it

  RunArguments train_{Command::train}, simulate_{Command::simulate}, advised_{Command::advise};
  RunArguments swept_{Command::advise};  // has the settings of both engines
  RunArguments compared_{Command::compare};
  bool list_rivals_ = false;
  AdviseRequest advise_;
  struct {
    std::string parameters, time;
  } plan_;
  CheckRequest check_;
  LaunchRequest launch_;
  JoinRequest join_;
  MemberRequest member_;
  ReproduceRequest reproduce_;
  struct {
    bool full = false;  // says what is so anyway
    std::string engine = "auto";
  } figures_;
  ReportRequest report_;
  SweepRequest sweep_;
  ExportRequest export_;
  PredictRequest predict_;
  DescribeRequest describe_;
  struct {
    std::string name, archive;
  } get_;
  struct {
    std::string share = "share";
    bool in_markdown = false;
  } manual_;
  std::string help_of_;
};

}  // namespace dasgd::app
