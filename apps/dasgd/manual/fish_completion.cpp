#include <fmt/format.h>
#include <sstream>

#include "manual/completion.hpp"

namespace dasgd::app {
namespace {

std::string fish_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "'";
}

// Once all words of the command were typed, and before one of those below it was.
std::string fish_condition(const TableCommand& command) {
  if (command.path().empty()) return "__fish_use_subcommand";
  std::string text;
  std::istringstream words(command.path());
  for (std::string word; words >> word;)
    text += (text.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
  return text;
}

std::string fish_option(const TableOption& option, const std::string& condition) {
  std::string text = "complete -c dasgd -n " + fish_text(condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty() && !option.value_optional) text += " -r";
  if (!option.choices.empty())
    text += " -a " + fish_text(fmt::format("{}", fmt::join(option.choices, " ")));
  return text + " -d " + fish_text(in_short(option.help)) + "\n";
}

}  // namespace

std::string fish_completion(const TableCommand& program) {
  std::string text = "# fish completion for dasgd, made from the table of its help.\n";
  for (const TableCommand* command : all_commands(program)) {
    const std::string condition = fish_condition(*command);
    std::string below;
    for (const TableCommand& next : command->commands)
      below += (below.empty() ? "" : " ") + next.word();
    for (const TableCommand& next : command->commands)
      text +=
          fmt::format("complete -c dasgd -f -n {} -a {} -d {}\n",
                      fish_text(command->path().empty()
                                    ? condition
                                    : condition + "; and not __fish_seen_subcommand_from " + below),
                      next.word(), fish_text(in_short(next.description)));
    for (const TableOption& option : command->options) text += fish_option(option, condition);
  }
  return text;
}

}  // namespace dasgd::app
