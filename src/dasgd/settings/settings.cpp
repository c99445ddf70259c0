#include "dasgd/settings/settings.hpp"

#include <algorithm>
#include <set>

#include "dasgd/settings/setting_groups.hpp"

namespace dasgd::config {
namespace {

// The tables of the written file follow this order, so settings of one table stand together.
std::vector<Setting> make_settings(Command command) {
  const bool real = command == Command::train;
  std::vector<Setting> all;
  const auto add = [&](const std::vector<Setting>& group) {
    all.insert(all.end(), group.begin(), group.end());
  };
  add(problem_settings());
  add(data_settings());
  add(algorithm_settings());
  if (real) add(stream_settings());
  if (real) add(engine_settings());
  add(topology_settings());
  add(budget_settings());
  add(pace_settings());
  add(real ? padding_settings() : world_settings());
  add(guard_settings());
  add(chaos_settings());
  add(rule_settings());
  add(evaluation_settings());
  if (real) add(checkpoint_settings());
  if (real) add(rank_settings());
  add(real ? elastic_settings() : membership_plan_settings());
  add(membership_settings());
  add(output_settings());
  if (real) add(watch_settings());
  return all;
}

std::string table_of(const Setting& setting) {
  const std::size_t dot = setting.key.find('.');
  return dot == std::string::npos ? "" : setting.key.substr(0, dot);
}

// Behind the others of its table.
void add_to_table(std::vector<Setting>& all, const Setting& setting) {
  const auto same = [&](const Setting& other) { return table_of(other) == table_of(setting); };
  const auto last = std::find_if(all.rbegin(), all.rend(), same);
  all.insert(last == all.rend() ? all.end() : last.base(), setting);
}

// Those of a simulation that a comparison heeds, with a step size for each rival and a directory of
// their own.
std::vector<Setting> settings_of_compare() {
  static const std::set<std::string> unheeded{
      "pace.arrivals",       "output.trace", "evaluation.patience",    "evaluation.target_loss",
      "guard.on_divergence", "guard.L",      "guard.measure_gradients"};
  std::vector<Setting> all = make_settings(Command::simulate);
  std::erase_if(all,
                [](auto& s) { return s.key.starts_with("elastic.") || unheeded.contains(s.key); });
  const auto lr = std::find_if(all.begin(), all.end(), [](auto& s) { return s.key == "lr"; });
  *lr = compared_step_settings().front();
  const auto out =
      std::find_if(all.begin(), all.end(), [](auto& s) { return s.key == "output.out"; });
  out->help = "the directory (default: runs/compare-MODEL)";
  for (const Setting& setting : compare_settings()) all.push_back(setting);
  return all;
}

// Those of a simulation; and the config of a real run can be read as well.
std::vector<Setting> settings_of_advise() {
  std::vector<Setting> all = make_settings(Command::simulate);
  for (const Setting& setting : make_settings(Command::train)) {
    const auto same = [&](const Setting& other) { return other.key == setting.key; };
    if (std::none_of(all.begin(), all.end(), same)) add_to_table(all, setting);
  }
  return all;
}

}  // namespace

const std::vector<Setting>& settings(Command command) {
  static const std::vector<Setting> of_train = make_settings(Command::train);
  static const std::vector<Setting> of_simulate = make_settings(Command::simulate);
  static const std::vector<Setting> of_advise = settings_of_advise();
  static const std::vector<Setting> of_compare = settings_of_compare();
  if (command == Command::advise) return of_advise;
  if (command == Command::compare) return of_compare;
  return command == Command::train ? of_train : of_simulate;
}

const Setting* find_setting(Command command, const std::string& key) {
  const auto& all = settings(command);
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.key == key; });
  return at == all.end() ? nullptr : &*at;
}

std::string with_options(const std::string& message) {
  // Of commands whose arguments are not settings of a run: check, sweep.
  static const std::set<std::string> others{"eta", "L", "vary"};
  const auto option_of = [](const std::string& key) {
    for (const Command command : {Command::advise, Command::compare})
      if (const Setting* const setting = find_setting(command, key)) return setting->option;
    return others.contains(key) ? "--" + key : "";
  };
  std::string result;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t open = message.find('`', at);
    const std::size_t close = open == std::string::npos ? open : message.find('`', open + 1);
    if (close == std::string::npos) return result + message.substr(at);
    const std::string option = option_of(message.substr(open + 1, close - open - 1));
    if (option.empty()) {  // somebody's own words: the next may begin a key
      result += message.substr(at, open + 1 - at);
      at = open + 1;
    } else {
      result += message.substr(at, open - at) + option;
      at = close + 1;
    }
  }
  return result;
}

}  // namespace dasgd::config
