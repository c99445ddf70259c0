#include "dasgd/settings/toml_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/text_hazard.hpp"
#include "dasgd/base/toml.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/settings.hpp"

namespace dasgd::config {
namespace {

std::vector<std::string> keys(Command command) {
  std::vector<std::string> result;
  for (const Setting& setting : settings(command))
    if (setting.in_files) result.push_back(setting.key);
  return result;
}

const Setting* find(Command command, const std::string& key) {
  const Setting* const setting = find_setting(command, key);
  return setting && setting->in_files ? setting : nullptr;
}

// The value as it would stand on the command line.
std::string as_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw InputError(where + " has a value of an unsupported type");
}

/// Walks the tables of a file and sets what it finds.
class TomlReader {
 public:
  TomlReader(Command command, const std::string& path, const std::set<std::string>& overridden,
             Config& config)
      : command_(command), path_(path), overridden_(overridden), config_(config) {}

  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      if (const auto* section = node.as_table()) {
        read(*section, key + ".");
      } else {
        read_value(key, node);
      }
    }
  }

  /// Keys that no run writes into its config: whoever set them wants others to join.
  void require_members() const {
    if (command_ != Command::train || !config_.elastic.listen.empty()) return;
    for (const Setting& setting : elastic_settings())
      if (read_.contains(setting.key))
        throw InputError(fmt::format(
            "{}: {}: only for a run that others can join; add `elastic.listen` HOST:PORT", path_,
            setting.key));
  }

 private:
  // So that the config of a run serves to simulate it, and the other way round.
  static bool is_of_another_command(const std::string& key) {
    return find(Command::train, key) != nullptr || find(Command::simulate, key) != nullptr ||
           find(Command::compare, key) != nullptr;
  }

  std::string hint(const std::string& key) const {
    std::string option = "--" + key.substr(key.rfind('.') + 1);
    std::replace(option.begin(), option.end(), '_', '-');
    for (const Setting& setting : settings(command_))
      if (setting.option == option && setting.in_files)
        return fmt::format("the key of {} is \"{}\"", option, setting.key);
    const std::string nearest = nearest_word(key, keys(command_));
    const char* const command = command_ == Command::train      ? "train"
                                : command_ == Command::simulate ? "simulate"
                                : command_ == Command::compare  ? "compare"
                                                                : "advise";
    return nearest.empty() ? fmt::format("dasgd {} --help shows the key of every option", command)
                           : "did you mean \"" + nearest + "\"?";
  }

  void read_value(const std::string& key, const toml::node& node) {
    const Setting* const setting = find(command_, key);
    if (!setting && is_of_another_command(key)) return;
    if (!setting)
      throw InputError(fmt::format("{}:{}: unknown key \"{}\"; {}", path_, node.source().begin.line,
                                   key, hint(key)));
    if (overridden_.contains(key)) return;
    read_.insert(key);
    if (const auto* array = node.as_array()) {
      read_array(*setting, *array);
    } else {
      set(*setting, as_text(node, path_ + ": " + key), node.is_string());
    }
  }

  void read_array(const Setting& setting, const toml::array& array) {
    std::vector<std::string> items;
    for (const auto& item : array) items.push_back(as_text(item, path_ + ": " + setting.key));
    if (setting.kind == Setting::Kind::repeatable) {
      for (const std::string& item : items) set(setting, item, true);
    } else {
      set(setting, fmt::format("{}", fmt::join(items, ",")), false);
    }
  }

  void set(const Setting& setting, const std::string& value, bool quote) {
    try {
      setting.set(config_, value);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{0}: {1} = {3}{2}{3}: {4}", path_, setting.key, value,
                                   quote ? "\"" : "", error.what()));
    }
  }

  const Command command_;
  const std::string& path_;
  const std::set<std::string>& overridden_;
  Config& config_;
  std::set<std::string> read_;
};

// Tables are given as a config by people who left out --data.
std::string no_config(const std::string& path) {
  const std::string kind = std::filesystem::path(path).extension();
  if (kind.empty() || kind == ".toml") return "";
  return "; a config is a TOML file, data are given as `data` " + path;
}

std::string config_text(const std::string& path) {
  constexpr std::size_t most = 1 << 20;
  if (!std::filesystem::is_regular_file(path))
    throw InputError(path + ": is not a file; CONFIG.toml must be one");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be opened");
  std::string text(most + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most)
    throw InputError(path + ": is larger than 1 MiB, too large for a config file" +
                     no_config(path));
  return text;
}

// Whether a run has scaled its inputs and not its targets, though they are numbers: earlier
// versions never did.
bool left_targets_alone(const std::string& directory) {
  const std::string path = directory + "/preprocessing.json";
  const auto text = read_text(path);
  if (!text) return false;
  const Preprocessing was = preprocessing_from_json(*text, path);
  return was.answers == Answers::number && is_standard(was.scale) && !was.target;
}

}  // namespace

void read_config_file(Command command, const std::string& path,
                      const std::set<std::string>& overridden, Config& config) {
  read_config_text(command, config_text(path), path, overridden, config);
}

void read_config_text(Command command, const std::string& text, const std::string& name,
                      const std::set<std::string>& overridden, Config& config) {
  if (const auto hazard = find_text_hazard(text))
    throw InputError(fmt::format("{}:{}: {}{}", name, hazard->line, hazard->what, no_config(name)));
  try {
    TomlReader reader(command, name, overridden, config);
    reader.read(toml::parse(text), "");
    reader.require_members();
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}: {}{}", name, error.source().begin.line,
                                 std::string(error.description()), no_config(name)));
  }
  // That a run passed nothing on was a matter of its graph; another graph has a default of its own.
  const bool other_graph = overridden.contains("workers") || overridden.contains("topology.kind");
  if (other_graph && !overridden.contains("topology.relay") && config.run.relay == RelayMode::none)
    config.run.relay.reset();
}

void read_resumed_config(const std::string& file, const std::set<std::string>& overridden,
                         Config& config) {
  const std::string& directory = config.output.resume;
  if (!file.empty())
    throw InputError("`checkpoint.resume` takes the config of its directory; leave " + file +
                     " out");
  if (!config.output.out.empty())
    throw InputError("`checkpoint.resume` continues in its own directory; remove `output.out`");
  const std::string path = directory + "/config.toml";
  if (!std::filesystem::is_regular_file(path))
    throw InputError(fmt::format(
        "`checkpoint.resume`: {} is not a run directory: it has no config.toml", directory));
  config.output.out = directory;
  read_config_file(Command::train, path, overridden, config);
  if (!overridden.contains("scale") && left_targets_alone(directory))
    config.problem.reading.scale = Scale::inputs;
}

std::string to_toml(Command command, const Config& config) {
  std::string text, section;
  for (const Setting& setting : settings(command)) {
    const auto value = setting.show(config);
    if (!value) continue;
    const std::size_t dot = setting.key.find('.');
    const std::string here = dot == std::string::npos ? "" : setting.key.substr(0, dot);
    if (here != section) text += fmt::format("\n[{}]\n", here);
    section = here;
    text += fmt::format(
        "{} = {}\n", dot == std::string::npos ? setting.key : setting.key.substr(dot + 1), *value);
  }
  return text;
}

}  // namespace dasgd::config
