#include "arguments.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/models/data_source.hpp"
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

/// The reader of settings: for a peer, model and data are elsewhere.
enum class For { run, peer };

bool is_of_peers(const Setting& setting) {
  static const std::set<std::string> keys{"lr",
                                          "look_ahead",
                                          "message",
                                          "seed",
                                          "budget.gradients",
                                          "ranks.timeout",
                                          "output.out",
                                          "output.trace",
                                          "output.no_report",
                                          "budget.total_gradients",
                                          "topology.kind",
                                          "topology.relay",
                                          "budget.max_time"};
  return setting.key.starts_with("rule.") || setting.key.starts_with("watch.") ||
         keys.contains(setting.key);
}

// What to do instead.
std::string instead_of(const std::string& key) {
  if (key == "budget.epochs")
    return "the loop makes the passes: peer.loader(data, epochs=N), or total_gradients=N";
  if (key == "workers") return "there are as many as are started: dasgd launch -n N";
  if (key.starts_with("checkpoint."))
    return "use peer.save(file), and resume=file to go on from it";
  if (key.starts_with("evaluation.") || key.starts_with("budget."))
    return "evaluate in the loop, peer.log(accuracy=...), and end the run by peer.stop()";
  if (key.starts_with("elastic.") || key.starts_with("ranks.") || key == "engine")
    return "dasgd launch decides how processes find each other";
  if (key.starts_with("pace.") || key.starts_with("chaos."))
    return "a loop is as fast as its machine; dasgd train and dasgd simulate emulate others";
  if (key.starts_with("output.")) return "it is for the program dasgd";
  return "the loop has its own model, data and batches";
}

const Setting& checked(const Setting& setting, For whom) {
  if (whom == For::peer && !is_of_peers(setting))
    throw InputError(fmt::format("a peer does not support `{}`: {}", keyword_of(setting),
                                 instead_of(setting.key)));
  return setting;
}

const Setting& find(Command command, For whom, const std::string& keyword) {
  if (const Setting* const setting = config::find_setting(command, keyword))
    return checked(*setting, whom);
  std::vector<std::string> keys, names;
  for (const Setting& setting : config::settings(command)) {
    if (keyword_of(setting) == keyword) return checked(setting, whom);
    if (whom == For::peer && !is_of_peers(setting)) continue;
    keys.push_back(setting.key);
    names.push_back(keyword_of(setting));
  }
  const bool is_near_a_key =
      nearest_word(keyword, names).empty() && !nearest_word(keyword, keys).empty();
  throw InputError(fmt::format("unknown keyword \"{}\"{}", keyword,
                               suggestion(keyword, is_near_a_key ? keys : names)));
}

std::string text_of(py::handle given) {
  if (py::isinstance<py::bool_>(given)) return given.cast<bool>() ? "true" : "false";
  auto value = py::reinterpret_borrow<py::object>(given);
  if (py::isinstance<py::bytes>(value) || py::hasattr(value, "__fspath__"))
    value = py::module_::import("os").attr("fsdecode")(value);
  const py::str text(value);  // a path, a number, a text
  Py_ssize_t size = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
    return {utf8, static_cast<std::size_t>(size)};
  PyErr_Clear();  // surrogates, which stand for bytes of a path that are not text
  throw InputError(std::string(py::reinterpret_steal<py::str>(PyObject_ASCII(text.ptr()))) +
                   " is not UTF-8 text");
}

bool is_list(py::handle value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

// Those of numpy as well.
bool is_number(py::handle value) {
  return !py::isinstance<py::bool_>(value) &&
         py::isinstance(value, py::module_::import("numbers").attr("Real"));
}

bool is_time(const Setting& setting) {
  return setting.placeholder == "T" || setting.placeholder == "T,..." ||
         setting.placeholder == "T|+T";
}

// One value as it would stand on the command line: 2.0 is 2, and a time without a unit is seconds.
std::string item_of(const Setting& setting, py::handle value) {
  std::string text = text_of(value);
  const bool is_many = is_list(value) || py::isinstance<py::dict>(value);
  const bool has_line_break = text.find('\n') != text.npos;
  const bool is_text = py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value);
  if (has_line_break && (is_text || py::hasattr(value, "__fspath__")))
    throw InputError(fmt::format("{}: {} has a line break; choose another name",
                                 keyword_of(setting), text_of(py::repr(py::str(text)))));
  if (is_many || has_line_break)
    throw InputError(fmt::format("{}: each value is a number or a text, not a {}",
                                 keyword_of(setting),
                                 text_of(py::type::of(value).attr("__name__"))));
  if (!is_number(value)) return text;
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return is_time(setting) ? text + "s" : text;
}

std::vector<std::string> texts_of(const Setting& setting, py::object value) {
  if (py::hasattr(value, "tolist") && !is_number(value)) value = value.attr("tolist")();
  std::vector<std::string> items;
  if (py::isinstance<py::dict>(value)) {  // slow={1: 10}
    for (const auto& [name, item] : value.cast<py::dict>())
      items.push_back(item_of(setting, name) + ":" + item_of(setting, item));
    return items;
  }
  if (!is_list(value)) return {item_of(setting, value)};
  for (const py::handle item : value) items.push_back(item_of(setting, item));
  if (setting.kind == Setting::Kind::repeatable) return items;
  return {fmt::format("{}", fmt::join(items, ","))};
}

// Its dictionary holds values, not settings.
bool is_repeatable(Command command, const std::string& keyword) {
  return std::ranges::any_of(config::settings(command), [&](const Setting& setting) {
    return setting.kind == Setting::Kind::repeatable &&
           (setting.key == keyword || keyword_of(setting) == keyword);
  });
}

using Given = std::vector<std::pair<const Setting*, std::string>>;

// Data in memory goes by a name like that of a file; it says where the numbers were.
std::string name_of(const std::string& key, const ArrayPair& arrays) {
  return fmt::format("{}{}, {} samples", named_as_arrays, key,
                     arrays.inputs.header().shape.front());
}

// What `train` would ignore: it is for the program.
void require_on_threads(Command command, const std::string& key) {
  if (key.starts_with("watch."))
    throw InputError(fmt::format("`{}` is for the program dasgd, not for Python", key));
  const bool elastic = key.starts_with("elastic.");
  const bool ranks = key.starts_with("ranks.");
  if (command == Command::train && (elastic || ranks))
    throw InputError(fmt::format(
        "`{}` is for {}, and dasgd.train trains on threads of this process; use the program ({}), "
        "or dasgd.torch.Peer under dasgd launch",
        key, elastic ? "elastic runs" : "MPI ranks",
        elastic ? "dasgd train --listen HOST:PORT" : "mpirun -n N dasgd train"));
}

void collect(Command command, For whom, const py::dict& keywords, const std::string& prefix,
             Given& given, NamedArrays& arrays) {
  for (const auto& [name, value] : keywords) {
    const std::string key = prefix + text_of(name);
    if (value.is_none() || key == "config") continue;
    if (py::isinstance<py::dict>(value) && !is_repeatable(command, key)) {
      collect(command, whom, value.cast<py::dict>(), key + ".", given, arrays);
      continue;
    }
    const Setting& setting = find(command, whom, key);
    if (whom == For::run) require_on_threads(command, setting.key);
    if (py::isinstance<ArrayPair>(value)) {
      const auto& pair = value.cast<const ArrayPair&>();
      given.emplace_back(&setting, name_of(key, pair));
      arrays.emplace(given.back().second, pair);
      continue;
    }
    const bool is_off = setting.kind == Setting::Kind::flag && py::isinstance<py::bool_>(value) &&
                        !value.cast<bool>();
    if (is_off) continue;
    for (std::string& text : texts_of(setting, py::reinterpret_borrow<py::object>(value)))
      given.emplace_back(&setting, std::move(text));
  }
}

// Several processes that train on threads would each train the same, in one directory.
void require_one_process(const Config& config) {
  const auto launch = config::find_launch();
  const bool several = launch && launch->size > 1;
  if (config.ranks.engine == config::EngineKind::threads) return;
  if (!several && config.ranks.engine != config::EngineKind::mpi) return;
  throw InputError(fmt::format(
      "train runs on threads of one process{}; for ranks use dasgd.torch.Peer, or the program: "
      "mpirun -n N dasgd train; engine=\"threads\" trains in every process for itself",
      several ? fmt::format(", and {} has started {}", launch->launcher, launch->size) : ""));
}

Config read(Command command, For whom, const py::dict& keywords) {
  Given given;
  Config config;
  collect(command, whom, keywords, "", given, config.problem.arrays);
  std::set<std::string> overridden;
  for (const auto& [setting, text] : given) {
    overridden.insert(setting->key);
    try {
      setting->set(config, text);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} = \"{}\": {}", keyword_of(*setting), text, error.what()));
    }
  }
  const std::string file =
      keywords.contains("config") ? text_of(keywords["config"]) : std::string();
  if (!config.output.resume.empty())
    config::read_resumed_config(file, overridden, config);
  else if (!file.empty())
    config::read_config_file(command, file, overridden, config);
  return config;
}

}  // namespace

Config read_peer_settings(const py::dict& keywords) {
  if (keywords.contains("config"))
    throw InputError("a peer takes its settings as keywords, not from a file");
  return read(Command::train, For::peer, keywords);
}

Config read_config(Command command, const py::dict& keywords) {
  Config config = read(command, For::run, keywords);
  if (command == Command::train) {
    require_one_process(config);
    if (!config.elastic.listen.empty()) require_on_threads(command, "elastic.listen");
    config::set_default_evaluation(config);
  }
  if (command == Command::compare) config::set_default_grid(config);
  config.ranks.engine = config::EngineKind::threads;
  config::resolve(config);
  return config;
}

}  // namespace dasgd::python
