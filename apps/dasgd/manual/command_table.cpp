#include "manual/command_table.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <sstream>

namespace dasgd::app {
namespace {

bool is_word(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; };
  return !text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), fits);
}

// "X|auto|proved" spells out auto and proved.
std::vector<std::string> spelled_out(const std::string& placeholder) {
  std::vector<std::string> words;
  std::istringstream parts(placeholder);
  for (std::string part; std::getline(parts, part, '|');)
    if (is_word(part)) words.push_back(part);
  return words;
}

TableOption table_option(const CLI::Option& option) {
  TableOption row;
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  const bool named = !row.names.empty();
  if (option.get_items_expected_max() > 0) row.value = option.get_type_name();
  if (!named) row.names = {row.value};
  row.choices = spelled_out(row.value);
  row.help = option.get_description();
  const std::size_t key = row.help.rfind("  [");
  if (key != std::string::npos && row.help.ends_with(']')) {
    row.key = row.help.substr(key + 3, row.help.size() - key - 4);
    row.help.resize(key);
  }
  row.required = option.get_required();
  row.repeatable = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  row.value_optional = !row.value.empty() && option.get_items_expected_min() == 0;
  return row;
}

void read_footer(const std::string& footer, TableCommand& command) {
  std::istringstream lines(footer);
  bool in_examples = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:" || line == "Example:") {
      in_examples = true;
    } else if (in_examples && line.starts_with("  ")) {
      command.examples.push_back(line.substr(2));
    } else {
      command.notes.push_back(line);
    }
  }
}

TableCommand make_table(const CLI::App& app, const std::string& above) {
  TableCommand command;
  command.name = above.empty() ? app.get_name() : above + " " + app.get_name();
  command.description = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    const bool named = !option->get_lnames().empty() || !option->get_snames().empty();
    (named ? command.options : command.arguments).push_back(table_option(*option));
  }
  read_footer(app.get_footer(), command);
  for (const CLI::App* below : app.get_subcommands(std::function<bool(const CLI::App*)>{}))
    command.commands.push_back(make_table(*below, command.name));
  return command;
}

}  // namespace

std::string TableCommand::path() const {
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? "" : name.substr(space + 1);
}

TableCommand command_table(const CLI::App& app) { return make_table(app, ""); }

std::vector<const TableCommand*> all_commands(const TableCommand& root) {
  std::vector<const TableCommand*> all{&root};
  for (const TableCommand& command : root.commands)
    for (const TableCommand* below : all_commands(command)) all.push_back(below);
  return all;
}

std::string in_short(const std::string& help) {
  std::size_t end = help.size();
  for (const char* const mark : {": ", "; ", " (", ". ", "  "})
    end = std::min(end, help.find(mark));
  return help.substr(0, end);
}

}  // namespace dasgd::app
