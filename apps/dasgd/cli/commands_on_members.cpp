// The commands of runs whose members come and go.
#include "cli/argument_mistakes.hpp"
#include "cli/command_line.hpp"

namespace dasgd::app {

void CommandLine::add_join() {
  CLI::App* const app = app_.add_subcommand("join", "Join an elastic run (train --listen)");
  add_option(app, "address", "HOST:PORT[,...]|RUN_DIR", join_.addresses,
             "addresses of members, separated by commas; or the run directory of an earlier member")
      ->required();
  add_option(app, "--token-file", "FILE", join_.elastic.token_file,
             "file with the token of the run (or set DASGD_TOKEN)", must_not_be_empty);
  add_option(app, "--out", "DIR", join_.output.out, "the run directory (default: runs/MODEL-TIME)",
             must_not_be_empty);
  add_option(app, "--data", "PATH", join_.data, "path of the data on this machine",
             must_not_be_empty);
  add_option(app, "--listen", "HOST:PORT", join_.elastic.listen,
             "address to listen on (default: any free port)", must_not_be_empty);
  add_option(
      app, "--advertise", "HOST:PORT", join_.elastic.advertise,
      "address at which others reach this member, if different from --listen; port 0: the port of "
      "--listen",
      must_not_be_empty);
  app->add_flag("--dial-out-only", join_.dial_out_only,
                "do not listen, only dial others: behind a firewall");
  add_option(app, "--name", "NAME", join_.elastic.name,
             "name of this member (default: its host and process)", must_not_be_empty);
  add_option(app, "--cert", "FILE", join_.elastic.certificate,
             "certificate of your own authority, instead of a token", must_not_be_empty);
  add_option(app, "--key", "FILE", join_.elastic.key, "its key", must_not_be_empty);
  add_option(app, "--ca", "FILE", join_.elastic.authority, "the authority", must_not_be_empty);
  app->add_flag("--plaintext", join_.elastic.plaintext,
                "without TLS; only between processes of this machine");
  add_option(app, "--slow", "FACTOR", join_.slow,
             "emulate a slow machine: gradients take this many times as long", must_be_positive);
  app->add_flag("--trace", join_.output.trace, "write all applications to trace.jsonl");
  app->add_flag("--no-report", join_.output.no_report, "do not write report.html at the end");
  app->add_flag("--quiet", join_.output.quiet, "print errors and warnings only");
  app->add_flag("--json", join_.output.json, "print the summary as JSON");
  app->footer(
      "Settings come from the run; this machine computes with its own copy of the data. Ctrl-C "
      "or\ndasgd leave hands over its gradients and leaves. After a crash, dasgd join "
      "RUN_DIR\nrejoins as a new member: addresses and token are kept there. More: "
      "docs/elastic.md.\n"
      "Examples:\n"
      "  dasgd train --listen 0.0.0.0:7070 --out runs/a       on the first machine\n"
      "  dasgd join 10.0.0.1:7070 --token-file token --out runs/b");
  when(app, [this] { return join_command(join_); });
}

void CommandLine::add_member_commands() {
  const auto add = [this](const char* name, const char* help) {
    CLI::App* const app = app_.add_subcommand(name, help);
    add_option(app, "run", "RUN_DIR", member_.directory,
               "the run directory of a member on this machine")
        ->required();
    app->footer(std::string("Example:\n  dasgd ") + name + " runs/a");
    return app;
  };
  CLI::App* const status =
      add("status", "List the members of an elastic run, as one of them sees them");
  status->add_flag("--json", member_.json, "as one JSON object");
  status->footer(
      "A line for each member: here, behind, cut off, left, gone or dead, its gradients, how many "
      "a\n"
      "second, and how many gradients of the model it had not reported. More: docs/elastic.md.\n"
      "Examples:\n"
      "  dasgd status runs/a\n"
      "  dasgd status runs/a --json");
  const auto on_member = [this](const CLI::App* command, const char* line) {
    when(command, [this, line] {
      member_.line = line;
      return member_command(member_);
    });
  };
  on_member(status, "status");
  on_member(add("leave", "Make a member hand over its gradients and leave the run"), "leave");
  on_member(add("stop", "End an elastic run for all members"), "stop");
  CLI::App* const token = app_.add_subcommand("token", "Manage the token of an elastic run");
  token->require_subcommand(1);
  const char* const example = "Example:\n  dasgd token rotate runs/a";
  token->footer(example);
  CLI::App* const rotate =
      token->add_subcommand("rotate", "Make a new token; the old one no longer admits new members");
  add_option(rotate, "run", "RUN_DIR", member_.directory,
             "the run directory of a member on this machine")
      ->required();
  rotate->footer(
      "The new token is written to RUN_DIR/token, and to the directories of all other members.\n"
      "Present members stay connected; dasgd join RUN_DIR works as before.\n" +
      std::string(example));
  on_member(rotate, "rotate");
  CLI::App* const forget =
      app_.add_subcommand("forget", "Declare a member dead, so that it is no longer awaited");
  add_option(forget, "name", "NAME", member_.line, "the dead member, by name or origin")
      ->required();
  add_option(forget, "run", "RUN_DIR", member_.directory,
             "the run directory of a member on this machine")
      ->required();
  forget->footer("Example:\n  dasgd forget b runs/a");
  when(forget, [this] {
    member_.line = "forget " + member_.line;
    return member_command(member_);
  });
}

}  // namespace dasgd::app
