#include <algorithm>
#include <fmt/format.h>

#include "manual/pages.hpp"

namespace dasgd::app {
namespace {

// Text as roff takes it: a dash that can be typed, no line that begins with a request.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string entry(const TableOption& option, bool named) {
  std::string head;
  for (const std::string& name : option.names)
    head += (head.empty() ? "" : ", ") + (named ? bold(name) : italic(name));
  if (named && !option.value.empty()) head += " " + italic(option.value);
  std::string text = ".TP\n" + head + "\n" + roff(option.help);
  if (!option.key.empty()) text += fmt::format("; in the file: {}", bold(option.key));
  return text + "\n";
}

std::string entries(const TableCommand& command) {
  std::string text;
  for (const TableOption& argument : command.arguments) text += entry(argument, false);
  for (const TableOption& option : command.options) text += entry(option, true);
  return text;
}

std::string lines(const std::vector<std::string>& all) {
  std::string text = ".nf\n";
  for (const std::string& line : all) text += roff(line) + "\n";
  return text + ".fi\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string commands_below(const TableCommand& program) {
  std::string text = ".SH COMMANDS\n";
  for (const TableCommand& command : program.commands)
    text += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(command)), roff(command.description));
  return text;
}

}  // namespace

std::string synopsis(const TableCommand& command) {
  std::string text = command.name + " [OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND";
  for (const TableOption& argument : command.arguments)
    text += argument.required ? " " + argument.value : " [" + argument.value + "]";
  return text;
}

std::string page_name(const TableCommand& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const TableCommand& command, const std::string& version) {
  const bool program = command.path().empty();
  std::string text = fmt::format(".TH {} 1 \"\" \"dasgd {}\" \"dasgd manual\"\n",
                                 roff(upper(page_name(command))), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(command)), roff(command.description));
  text += ".SH SYNOPSIS\n" + bold(synopsis(command)) + "\n";
  text += ".SH OPTIONS\n" + entries(command);
  if (program) {
    text += commands_below(command);
  } else {
    for (const TableCommand& below : command.commands)
      text += fmt::format(".SH {}\n{}\n.PP\n{}\n{}", roff(upper(below.name)), bold(synopsis(below)),
                          roff(below.description), entries(below));
  }
  if (!command.notes.empty()) text += ".SH NOTES\n" + lines(command.notes);
  if (!command.examples.empty()) text += ".SH EXAMPLES\n" + lines(command.examples);
  if (!program) text += ".SH SEE ALSO\n" + bold("dasgd") + "(1)\n";
  return text;
}

}  // namespace dasgd::app
