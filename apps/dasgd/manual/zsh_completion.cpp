#include <algorithm>
#include <fmt/format.h>

#include "manual/completion.hpp"

namespace dasgd::app {
namespace {

// Inside single quotes, where _arguments gives [, ] and : a meaning.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

std::string zsh_action(const TableOption& option) {
  return option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
}

std::string zsh_function(const TableCommand& command) {
  std::string name = "_dasgd " + command.path();
  std::replace(name.begin(), name.end(), ' ', '_');
  return command.path().empty() ? "_dasgd" : name;
}

std::string zsh_specs(const TableCommand& command) {
  std::string text;
  for (const TableOption& option : command.options)
    for (const std::string& name : option.names) {
      const std::string value = option.value.empty()
                                    ? ""
                                    : fmt::format("{}{}:{}", option.value_optional ? "::" : ":",
                                                  zsh_text(option.value), zsh_action(option));
      text += fmt::format("    '{}{}[{}]{}' \\\n", option.repeatable ? "*" : "", name,
                          zsh_text(in_short(option.help)), value);
    }
  return text;
}

std::string zsh_definition(const TableCommand& command) {
  std::string text = fmt::format("{}() {{\n", zsh_function(command));
  if (command.commands.empty()) {
    text += "  _arguments -s \\\n" + zsh_specs(command);
    const auto& arguments = command.arguments;
    return text + fmt::format("    '*:{}:{}'\n}}\n",
                              arguments.empty() ? "file" : zsh_text(arguments[0].value),
                              arguments.empty() ? "_files" : zsh_action(arguments[0]));
  }
  text += "  local -a commands\n  local line state\n  commands=(\n";
  for (const TableCommand& below : command.commands)
    text += fmt::format("    '{}:{}'\n", below.word(), zsh_text(below.description));
  text += "  )\n  _arguments -C \\\n" + zsh_specs(command) +
          "    '1:command:->command' '*::argument:->argument'\n  case $state in\n"
          "    command) _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const TableCommand& below : command.commands)
    text += fmt::format("        {}) {} ;;\n", below.word(), zsh_function(below));
  return text + "      esac ;;\n  esac\n}\n";
}

}  // namespace

std::string zsh_completion(const TableCommand& program) {
  std::string text =
      "#compdef dasgd\n# zsh completion for dasgd, made from the table of its help.\n";
  for (const TableCommand* command : all_commands(program)) text += zsh_definition(*command);
  return text +
         "if [ \"$funcstack[1]\" = \"_dasgd\" ]; then _dasgd \"$@\"; else compdef _dasgd dasgd; "
         "fi\n";
}

}  // namespace dasgd::app
