#include "cli/argument_mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <vector>

#include "dasgd/base/nearest_word.hpp"

namespace dasgd::app {
namespace {

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// "dasgd data get" of that command.
std::string full_name(const CLI::App& command) {
  return command.get_parent() ? full_name(*command.get_parent()) + " " + command.get_name()
                              : command.get_name();
}

bool is_named(const CLI::Option& option) { return option.get_name().starts_with("-"); }

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (is_named(*option)) names.push_back(option->get_name());
  return names;
}

// The nearest of the names, dashes aside: they would count as letters that are right.
std::string nearest_option(const std::string& word, const std::vector<std::string>& names) {
  const auto bare = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  std::vector<std::string> words;
  for (const std::string& name : names) words.push_back(bare(name));
  const std::string nearest = nearest_word(bare(word), words);
  const auto at = std::find(words.begin(), words.end(), nearest);
  return nearest.empty() ? "" : names[static_cast<std::size_t>(at - words.begin())];
}

// Another command that has this option.
std::string owner_of(const std::string& option, const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands(std::function<bool(const CLI::App*)>{}))
    for (const std::string& name : options_of(*command))
      if (name == option) return command->get_name();
  return "";
}

// What other programs call an option of ours.
std::string ours(const std::string& option, const CLI::App& command) {
  static const std::map<std::string, std::string> known{{"--learning-rate", "--lr"},
                                                        {"--learning_rate", "--lr"},
                                                        {"--eta", "--lr"},
                                                        {"--step-size", "--lr"},
                                                        {"--batch-size", "--batch"},
                                                        {"--batch_size", "--batch"},
                                                        {"--num-workers", "--workers"},
                                                        {"--num_workers", "--workers"},
                                                        {"--threads", "--workers"},
                                                        {"--num-epochs", "--epochs"},
                                                        {"--optimizer", "--rule"},
                                                        {"--dataset", "--data"},
                                                        {"--steps", "--total-gradients"},
                                                        {"--max-steps", "--total-gradients"},
                                                        {"--iterations", "--gradients"},
                                                        {"--output", "--out"},
                                                        {"--output-dir", "--out"},
                                                        {"--out-dir", "--out"},
                                                        {"--output_dir", "--out"},
                                                        {"--early-stopping", "--patience"},
                                                        {"--random-seed", "--seed"},
                                                        {"--gpu", "--device"},
                                                        {"--cuda", "--device"},
                                                        {"--grad-clip", "--clip"},
                                                        {"--lr-schedule", "--schedule"},
                                                        {"--arch", "--model"}};
  const auto at = known.find(option);
  const auto options = options_of(command);
  return at != known.end() && std::find(options.begin(), options.end(), at->second) != options.end()
             ? at->second
             : "";
}

// A word that nothing is made of.
std::string explain_extra(const std::string& word, const CLI::App& app, const CLI::App& command,
                          const std::vector<std::string>& commands) {
  const bool option = word.starts_with("-");
  if (!option && !commands.empty())
    return fmt::format("unknown command \"{}\"{}", word, suggestion(word, commands));
  if (const std::string name = ours(word, command); !name.empty())
    return fmt::format("unknown option {}; dasgd calls it {}", word, name);
  if (const std::string owner = owner_of(word, app); option && !owner.empty())
    return fmt::format("{} is an option of {}, not of {}", word, owner, command.get_name());
  const std::string nearest = option ? nearest_option(word, options_of(command)) : "";
  return fmt::format(
      "unknown {} {}; {}", option ? "option" : "argument", word,
      nearest.empty() ? "see: " + full_name(command) + " --help" : "did you mean " + nearest + "?");
}

// The option or argument of which CLI11 has too few or too many; or that is required and missing.
std::string explain_count(const CLI::App& command, const std::string& said, bool missing) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (!said.starts_with(name + ":") && !said.starts_with(name + " ")) continue;
    if (option->count() > 1)
      return fmt::format("{} is given {} times; give it once", name, option->count());
    if (missing && is_named(*option))
      return fmt::format("{} needs {} {}; see: {} --help", command.get_name(), name,
                         option->get_type_name(), full_name(command));
    return fmt::format("{} needs {}; see: {} --help", is_named(*option) ? name : command.get_name(),
                       is_named(*option) ? "a value: " + name + " " + option->get_type_name()
                                         : option->get_type_name(),
                       full_name(command));
  }
  return said;
}

}  // namespace

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto commands = names_of(command->get_subcommands(std::function<bool(const CLI::App*)>{}));
  std::vector<std::string> extras = app.remaining(true);
  std::erase(extras, "--");  // marks where a program begins
  if (!extras.empty())
    return explain_extra(extras.front().substr(0, extras.front().find('=')), app, *command,
                         commands);
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error))
    return fmt::format("name a command: {}; see: {} --help", fmt::join(commands, ", "),
                       full_name(*command));
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (missing || dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return explain_count(*command, text, missing);
  if (dynamic_cast<const CLI::ConversionError*>(&error))
    return text.substr(text.find(':') + 2) + " is not a number";  // "Could not convert: --eta = x"
  if (dynamic_cast<const CLI::ExcludesError*>(&error) && text.starts_with("config "))
    return "CONFIG.toml " + text.substr(std::string("config ").size());
  return text;
}

std::string must_be_positive(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value > 0 && std::isfinite(value) ? ""
                                                           : text + " is not a positive number";
}

namespace {

std::string must_lie_between(long least, const char* range, const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && value >= least && value <= 1000 ? "" : text + " is not a number " + range;
}

}  // namespace

std::string must_be_count(const std::string& text) {
  return must_lie_between(1, "from 1 to 1,000", text);
}

std::string must_be_count_or_zero(const std::string& text) {
  return must_lie_between(0, "from 0 to 1,000", text);
}

std::string must_not_be_empty(const std::string& text) {
  return text.empty() ? "the name is empty" : "";
}

}  // namespace dasgd::app
