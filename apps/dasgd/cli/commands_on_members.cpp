// The commands of runs whose members come and go.
#include "cli/argument_mistakes.hpp"
#include "cli/command_line.hpp"

namespace dasgd::app {

void CommandLine::add_join() {
  CLI::App* const app = app_.add_subcommand("join", "Join an elastic run (train --listen)");
  app->add_option(
         "address", join_.addresses,
         "addresses of members, separated by commas; or the run directory of an earlier member")
      ->required()
      ->type_name("HOST:PORT[,...]|RUN_DIR");
  const auto text = [app](const char* name, std::string& place, const char* help,
                          const char* type) {
    app->add_option(name, place, help)->check(must_not_be_empty)->type_name(type);
  };
  text("--token-file", join_.token_file, "file with the token of the run (or set DASGD_TOKEN)",
       "FILE");
  text("--out", join_.out, "the run directory (default: runs/MODEL-TIME)", "DIR");
  text("--data", join_.data, "path of the data on this machine", "PATH");
  text("--listen", join_.listen, "address to listen on (default: any free port)", "HOST:PORT");
  text("--advertise", join_.advertise,
       "address at which others reach this member, if different from --listen; port 0: the port of "
       "--listen",
       "HOST:PORT");
  app->add_flag("--dial-out-only", join_.dial_out_only,
                "do not listen, only dial others: behind a firewall");
  text("--name", join_.name, "name of this member (default: its host and process)", "NAME");
  text("--cert", join_.certificate, "certificate of your own authority, instead of a token",
       "FILE");
  text("--key", join_.key, "its key", "FILE");
  text("--ca", join_.authority, "the authority", "FILE");
  app->add_flag("--plaintext", join_.plaintext,
                "without TLS; only between processes of this machine");
  app->add_option("--slow", join_.slow,
                  "emulate a slow machine: gradients take this many times as long")
      ->check(must_be_positive)
      ->type_name("FACTOR");
  app->add_flag("--trace", join_.trace, "write all applications to trace.jsonl");
  app->add_flag("--no-report", join_.no_report, "do not write report.html at the end");
  app->add_flag("--quiet", join_.quiet, "print errors and warnings only");
  app->add_flag("--json", join_.json, "print the summary as JSON");
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
    app->add_option("run", member_.directory, "the run directory of a member on this machine")
        ->required()
        ->type_name("RUN_DIR");
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
  when(status, [this] {
    member_.line = "status";
    return member_command(member_);
  });
  when(add("leave", "Make a member hand over its gradients and leave the run"), [this] {
    member_.line = "leave";
    return member_command(member_);
  });
  when(add("stop", "End an elastic run for all members"), [this] {
    member_.line = "stop";
    return member_command(member_);
  });
  CLI::App* const token = app_.add_subcommand("token", "Manage the token of an elastic run");
  token->require_subcommand(1);
  const char* const example = "Example:\n  dasgd token rotate runs/a";
  token->footer(example);
  CLI::App* const rotate =
      token->add_subcommand("rotate", "Make a new token; the old one no longer admits new members");
  rotate->add_option("run", member_.directory, "the run directory of a member on this machine")
      ->required()
      ->type_name("RUN_DIR");
  rotate->footer(
      "The new token is written to RUN_DIR/token, and to the directories of all other members.\n"
      "Present members stay connected; dasgd join RUN_DIR works as before.\n" +
      std::string(example));
  when(rotate, [this] {
    member_.line = "rotate";
    return member_command(member_);
  });
  CLI::App* const forget =
      app_.add_subcommand("forget", "Declare a member dead, so that it is no longer awaited");
  forget->add_option("name", forgotten_, "the dead member, by name or origin")
      ->required()
      ->type_name("NAME");
  forget->add_option("run", member_.directory, "the run directory of a member on this machine")
      ->required()
      ->type_name("RUN_DIR");
  forget->footer("Example:\n  dasgd forget b runs/a");
  when(forget, [this] {
    member_.line = "forget " + forgotten_;
    return member_command(member_);
  });
}

}  // namespace dasgd::app
