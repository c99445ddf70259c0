// What a command line can say, as plain data: the table that the help is printed from, for whoever
// writes it down in another form.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dasgd::app {

struct TableOption {
  std::vector<std::string> names;    ///< "-n", "--workers"; of an argument: its placeholder
  std::string value;                 ///< placeholder; empty for a flag
  std::string help;                  ///< without its key
  std::string key;                   ///< in the config file; empty if it has none there
  std::vector<std::string> choices;  ///< words that the placeholder spells out
  bool required = false, repeatable = false, value_optional = false;
};

struct TableCommand {
  std::string name;  ///< "dasgd data get"
  std::string description;
  std::vector<TableOption> arguments, options;
  std::vector<std::string> notes;     ///< lines that stand below the options
  std::vector<std::string> examples;  ///< lines
  std::vector<TableCommand> commands;

  /// Its name below the program: "data get"; empty for the program itself.
  std::string path() const;
  /// The last word of its name: "get".
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

/// The table of a command and of those below it.
TableCommand command_table(const CLI::App& app);

/// The command and all below it, in the order of the help.
std::vector<const TableCommand*> all_commands(const TableCommand& root);

/// The first clause of a help text: what fits beside a word in a menu.
std::string in_short(const std::string& help);

}  // namespace dasgd::app
