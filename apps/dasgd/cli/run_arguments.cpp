#include "cli/run_arguments.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/argument_mistakes.hpp"
#include "dasgd/base/utf8.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/settings/recorded_run.hpp"
#include "dasgd/settings/setting_kinds.hpp"
#include "dasgd/settings/toml_file.hpp"

namespace dasgd::app {

bool of_no_use_for_advice(const Setting& setting) {
  const std::string& key = setting.key;
  return key == "output.out" || key == "output.trace" || key.starts_with("evaluation.") ||
         key.starts_with("elastic.") || !find_setting(Command::simulate, key);
}

bool of_no_use_for_sweeps(const Setting& setting) {
  const std::string& key = setting.key;
  return key == "engine" || key == "output.out" || key == "output.json" || !setting.in_files ||
         key == "ranks.workers_per_rank" || key.starts_with("watch.");
}

bool belongs_to_rows(const Setting& setting) {
  return setting.key.starts_with("rule.") || setting.key == "look_ahead";
}

void RunArguments::add_to(CLI::App& app, SettingFilter leave_out, const SettingGroup& apart) {
  app.add_option("config", config_file,
                 "TOML file with the settings; the options below override it")
      ->check(must_not_be_empty)
      ->type_name("CONFIG.toml");
  if (command == Command::simulate)
    app.add_option("--from", from,
                   "predict a recorded run: use its config and replay the times in its trace")
        ->check(must_not_be_empty)
        ->type_name("RUN_DIR")
        ->excludes("config");
  for (const Setting& setting : settings(command)) {
    if (leave_out && leave_out(setting)) continue;
    const auto remember = [this, &setting](const std::string& value) {
      given.emplace_back(&setting, value);
    };
    const std::string help = setting.help + (setting.in_files ? "  [" + setting.key + "]" : "");
    if (setting.kind == Setting::Kind::flag) {
      app.add_flag_callback(
          setting.option, [remember] { remember("true"); }, help);
      continue;
    }
    auto* const option = app.add_option_function<std::vector<std::string>>(
        setting.option,
        [remember](const std::vector<std::string>& values) {
          for (const std::string& value : values) remember(value);
        },
        help);
    const bool may_stand_alone = setting.kind == Setting::Kind::optional_value;
    option->type_name(setting.placeholder)->expected(may_stand_alone ? 0 : 1, 1);
    option->allow_extra_args(false);
    if (apart.holds && apart.holds(setting)) option->group(apart.title);
    option->multi_option_policy(setting.kind == Setting::Kind::repeatable
                                    ? CLI::MultiOptionPolicy::TakeAll
                                    : CLI::MultiOptionPolicy::Throw);
  }
}

bool RunArguments::gave(const std::set<std::string>& options) const {
  return std::any_of(given.begin(), given.end(),
                     [&](const auto& entry) { return options.contains(entry.first->option); });
}

RunArguments RunArguments::for_run(
    Command run, const std::vector<std::pair<std::string, std::string>>& values) const {
  RunArguments result{run, config_file};
  const auto add = [&](const std::string& key, const std::string& value) {
    const Setting* const setting = find_setting(run, key);
    if (!setting)
      throw InputError(fmt::format("`{}` is not an option of {}, which this sweep runs", key,
                                   run == Command::simulate ? "simulate" : "train"));
    result.given.emplace_back(setting, value);
  };
  for (const auto& [setting, value] : given) {
    const auto is_varied = [&key = setting->key](const auto& pair) { return pair.first == key; };
    if (std::any_of(values.begin(), values.end(), is_varied))
      throw InputError(fmt::format("{0} is varied; leave {0} {1} out", setting->option, value));
    add(setting->key, value);
  }
  for (const auto& [key, value] : values) add(key, value);
  return result;
}

Config RunArguments::resolved() const {
  Config config;
  std::set<std::string> overridden;
  for (const auto& [setting, value] : given) overridden.insert(setting->key);
  for (const auto& [setting, value] : given) {
    if (!is_utf8(value))
      throw InputError(
          fmt::format("{} {}: is not UTF-8 text", setting->option, config::printable(value)));
    try {
      setting->set(config, value);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{} {}: {}", setting->option, value.empty() ? "\"\"" : value, error.what()));
    }
  }
  const bool resumed = !config.output.resume.empty();
  if (resumed)
    read_resumed_config(config_file, overridden, config);
  else if (!config_file.empty())
    read_config_file(command, config_file, overridden, config);
  config.ranks.workers_give_way = resumed && !overridden.contains("workers");
  if (!from.empty()) {
    read_recorded_config(from, overridden, config);
    config.from = from;
  }
  if (command == Command::train) {
    set_default_evaluation(config);
    // The files of runs with members say how those judge silence, and serve without them.
    for (const auto& [setting, value] : given)
      if (setting->key.starts_with("elastic.") && config.elastic.listen.empty())
        throw InputError(setting->option +
                         ": only for a run that others can join; add --listen HOST:PORT");
    if (config.ranks.engine == config::EngineKind::mpi && !config.elastic.listen.empty())
      throw InputError("--listen: members are processes of their own, not ranks of an MPI job");
  }
  if (command != Command::train && is_stream(config.problem.data))
    throw InputError("--data " + config.problem.data + ": streams are for dasgd train; " +
                     (command == Command::simulate  ? "simulate"
                      : command == Command::compare ? "compare"
                                                    : "advise") +
                     " needs a finite data set");
  if (command == Command::compare) set_default_grid(config);
  try {
    resolve(config);
  } catch (const InputError& error) {
    if (!resumed || !overridden.contains("workers")) throw;
    throw InputError(fmt::format("{}; a setting that is not given comes from {}/config.toml",
                                 error.what(), config.output.resume));
  }
  return config;
}

}  // namespace dasgd::app
