#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "manual/pages.hpp"

namespace dasgd::app {
namespace {

constexpr std::size_t page_width = 118;
// A command that shares so many options with one before it lists only the others.
constexpr std::size_t many_shared = 20;

// Code stays as it is; what Markdown would take for markup outside of it does not.
std::string outside_code(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '*' || c == '_' || c == '<' || c == '[' || c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string wrapped(const std::string& text, const std::string& begin, const std::string& indent) {
  std::string result, line = begin;
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word;) {
    if (!first && line.size() + 1 + word.size() > page_width) {
      result += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
    first = false;
  }
  return result + line + "\n";
}

std::string list_entry(const TableOption& option) {
  const bool named = option.names[0].starts_with('-');
  const std::string value = !named || option.value.empty() ? ""
                            : option.value_optional        ? " [" + option.value + "]"
                                                           : " " + option.value;
  const std::string key = option.key.empty() ? "" : fmt::format(" (`{}`)", option.key);
  return wrapped(fmt::format("`{}{}`{}: {}", fmt::join(option.names, ", "), value, key,
                             outside_code(option.help)),
                 "- ", "  ");
}

bool is_help(const TableOption& option) { return option.names.back() == "--help"; }

bool is_same(const TableOption& one, const TableOption& other) {
  return one.names == other.names && one.value == other.value && one.key == other.key &&
         one.help == other.help;
}

bool has_same(const TableCommand& command, const TableOption& option) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [&](const TableOption& other) { return is_same(other, option); });
}

std::size_t shared_with(const TableCommand& base, const TableCommand& command) {
  return static_cast<std::size_t>(std::count_if(
      command.options.begin(), command.options.end(),
      [&](const TableOption& option) { return !is_help(option) && has_same(base, option); }));
}

// The command before this one that shares most options with it; none where that is a few.
const TableCommand* base_of(const TableCommand& command, const TableCommand& program) {
  const TableCommand* best = nullptr;
  std::size_t most = many_shared - 1;
  for (const TableCommand& base : program.commands) {
    if (&base == &command) break;
    const std::size_t shared = shared_with(base, command);
    if (shared > most) best = &base;
    most = std::max(most, shared);
  }
  return best;
}

std::string what_is_shared(const TableCommand& command, const TableCommand& base) {
  std::vector<std::string> left_out;
  for (const TableOption& option : base.options) {
    const auto named = [&](const TableOption& o) { return o.names == option.names; };
    if (std::none_of(command.options.begin(), command.options.end(), named))
      left_out.push_back("`" + option.names.back() + "`");
  }
  return wrapped(fmt::format("The options of [{}](#{}){}{}; in addition, or with another meaning:",
                             base.path(), page_name(base), left_out.empty() ? "" : " except ",
                             fmt::join(left_out, ", ")),
                 "", "") +
         "\n";
}

std::string options_of(const TableCommand& command, const TableCommand& program) {
  const TableCommand* const base = base_of(command, program);
  std::string text = base ? what_is_shared(command, *base) : "";
  for (const TableOption& option : command.options)
    if (!is_help(option) && !(base && has_same(*base, option))) text += list_entry(option);
  return text;
}

std::string command_section(const TableCommand& command, const TableCommand& program,
                            const std::string& heading) {
  std::string text =
      fmt::format("\n{} {}\n{}.\n\n<!-- not run: a synopsis -->\n```\n{}\n```\n\n", heading,
                  command.name, outside_code(command.description), synopsis(command));
  for (const TableOption& argument : command.arguments) text += list_entry(argument);
  text += options_of(command, program);
  if (!command.notes.empty())
    text += "\n" + wrapped(outside_code(fmt::format("{}", fmt::join(command.notes, " "))), "", "");
  if (!command.examples.empty())
    text += fmt::format("\n<!-- not run: examples of --help -->\n```\n{}\n```\n",
                        fmt::join(command.examples, "\n"));
  for (const TableCommand& below : command.commands)
    text += command_section(below, program, heading + "#");
  return text;
}

}  // namespace

std::string command_line_page(const TableCommand& program) {
  std::string text =
      "<!-- Generated by scripts/update_docs.sh from the tables behind --help. Do not edit. -->\n"
      "# Command line\n\n"
      "All commands and options, as `--help` prints them. In parentheses: the key of the option "
      "in\n"
      "the config file. [running.md](running.md) explains config files, budgets, targets, "
      "sampling\n"
      "and exit status.\n\n| command | what it does |\n|---|---|\n";
  for (const TableCommand& command : program.commands)
    text += fmt::format("| [{}](#{}) | {} |\n", command.path(), page_name(command),
                        outside_code(command.description));
  for (const TableCommand& command : program.commands)
    text += command_section(command, program, "##");
  return text;
}

}  // namespace dasgd::app
