#include <fmt/format.h>

#include "manual/completion.hpp"

namespace dasgd::app {
namespace {

// Which command the words before the cursor name.
std::string steps_down(const TableCommand& program) {
  std::string text;
  for (const TableCommand* command : all_commands(program))
    for (const TableCommand& below : command->commands)
      text += fmt::format("      '{}') command='{}' ;;\n", command->path() + "|" + below.word(),
                          below.path());
  return text;
}

std::string words_of(const TableCommand& command) {
  std::string words;
  for (const TableCommand& below : command.commands) words += below.word() + " ";
  for (const TableOption& argument : command.arguments)
    for (const std::string& choice : argument.choices) words += choice + " ";
  for (const TableOption& option : command.options)
    for (const std::string& name : option.names) words += name + " ";
  return words.empty() ? "" : words.substr(0, words.size() - 1);
}

std::string values_of(const TableCommand& command) {
  std::string text;
  for (const TableOption& option : command.options) {
    if (option.value.empty() || option.value_optional) continue;
    for (const std::string& name : option.names)
      text += fmt::format("    '{} {}') values='{}' takes=1 ;;\n", command.path(), name,
                          fmt::join(option.choices, " "));
  }
  return text;
}

}  // namespace

std::string bash_completion(const TableCommand& program) {
  std::string text =
      "# bash completion for dasgd, made from the table of its help.\n_dasgd() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command='' word values='' takes='' words=''\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$command|$word\" in\n";
  text += steps_down(program);
  text += "    esac\n  done\n  case \"$command $previous\" in\n";
  for (const TableCommand* command : all_commands(program)) text += values_of(*command);
  text +=
      "  esac\n"
      "  if [ -n \"$takes\" ]; then  # what is not spelled out is a file or a number\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\"; compgen -f -- "
      "\"$current\")\n"
      "    compopt -o filenames 2>/dev/null\n    return\n  fi\n  case \"$command\" in\n";
  for (const TableCommand* command : all_commands(program))
    text += fmt::format("    '{}') words='{}' ;;\n", command->path(), words_of(*command));
  text +=
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  if [ \"${#COMPREPLY[@]}\" = 0 ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "    compopt -o filenames 2>/dev/null\n  fi\n}\ncomplete -F _dasgd dasgd\n";
  return text;
}

}  // namespace dasgd::app
