#include "arguments.hpp"

#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/toml_file.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
using config::Command;
using config::Config;
using config::Setting;

// "--max-time" is max_time in Python.
std::string keyword_of(const Setting& setting) {
  std::string name = setting.option.substr(setting.option.find_first_not_of('-'));
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

const Setting& find(Command command, const std::string& keyword) {
  if (const Setting* const setting = config::find_setting(command, keyword)) return *setting;
  std::vector<std::string> known;
  for (const Setting& setting : config::settings(command)) {
    if (keyword_of(setting) == keyword) return setting;
    known.push_back(setting.key);
    known.push_back(keyword_of(setting));
  }
  throw InputError(fmt::format("unknown keyword \"{}\"{}", keyword, suggestion(keyword, known)));
}

std::string text_of(py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  return py::str(value);  // a path, a number, a text
}

bool is_list(py::handle value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

std::vector<std::string> texts_of(const Setting& setting, py::handle value) {
  if (!is_list(value)) return {text_of(value)};
  std::vector<std::string> items;
  for (const py::handle item : value) items.push_back(text_of(item));
  if (setting.kind == Setting::Kind::repeatable) return items;
  return {fmt::format("{}", fmt::join(items, ","))};
}

using Given = std::vector<std::pair<const Setting*, std::string>>;

void collect(Command command, const py::dict& keywords, const std::string& prefix, Given& given) {
  for (const auto& [name, value] : keywords) {
    const std::string key = prefix + name.cast<std::string>();
    if (value.is_none() || key == "config") continue;
    if (py::isinstance<py::dict>(value)) {
      collect(command, value.cast<py::dict>(), key + ".", given);
      continue;
    }
    const Setting& setting = find(command, key);
    const bool is_off = setting.kind == Setting::Kind::flag && py::isinstance<py::bool_>(value) &&
                        !value.cast<bool>();
    if (is_off) continue;
    for (std::string& text : texts_of(setting, value))
      given.emplace_back(&setting, std::move(text));
  }
}

}  // namespace

Config read_settings(Command command, const py::dict& keywords) {
  Given given;
  collect(command, keywords, "", given);
  Config config;
  std::set<std::string> overridden;
  for (const auto& [setting, text] : given) {
    overridden.insert(setting->key);
    try {
      setting->set(config, text);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} = \"{}\": {}", keyword_of(*setting), text, error.what()));
    }
  }
  if (keywords.contains("config"))
    config::read_config_file(command, py::str(keywords["config"]), overridden, config);
  return config;
}

Config read_config(Command command, const py::dict& keywords) {
  Config config = read_settings(command, keywords);
  if (command == Command::train) config::set_default_evaluation(config);
  config.ranks.engine = config::EngineKind::threads;
  config::resolve(config);
  return config;
}

}  // namespace dasgd::python
