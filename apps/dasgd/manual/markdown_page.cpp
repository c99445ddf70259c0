#include <fmt/format.h>

#include "manual/pages.hpp"

namespace dasgd::app {
namespace {

// Text outside of code.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '*' || c == '_' || c == '<' || c == '[' || c == '`' || c == '|') result += '\\';
    result += c;
  }
  return result;
}

// A list of definitions: it fits a phone, where a table does not.
std::string entries_in_markdown(const std::vector<TableOption>& options) {
  std::string text;
  for (const TableOption& option : options) {
    const bool named = option.names[0].starts_with('-');
    text +=
        fmt::format("`{}{}`\n:   {}{}\n\n", fmt::join(option.names, ", "),
                    named && !option.value.empty() ? " " + option.value : "", plain(option.help),
                    option.key.empty() ? "" : fmt::format(". In the file: `{}`", option.key));
  }
  return text;
}

std::string section(const TableCommand& command, const std::string& heading) {
  std::string text = fmt::format("{} {}\n\n{}.\n\n```\n{}\n```\n\n", heading, command.name,
                                 command.description, synopsis(command));
  text += entries_in_markdown(command.arguments) + entries_in_markdown(command.options);
  for (const TableCommand& below : command.commands)
    if (!command.path().empty()) text += "\n" + section(below, heading + "#");
  if (!command.notes.empty()) text += fmt::format("\n{}\n", fmt::join(command.notes, "\n"));
  if (!command.examples.empty())
    text += fmt::format("\n```\n{}\n```\n", fmt::join(command.examples, "\n"));
  return text;
}

}  // namespace

std::string markdown_page(const TableCommand& command) {
  std::string text = section(command, "#");
  if (!command.path().empty() || command.commands.empty()) return text;
  text += "\n| command | what it does |\n|---|---|\n";
  for (const TableCommand& below : command.commands)
    text += fmt::format("| [{}]({}.md) | {} |\n", below.name, page_name(below),
                        plain(below.description));
  return text;
}

}  // namespace dasgd::app
