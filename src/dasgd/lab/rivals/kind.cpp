#include "dasgd/lab/rivals/kind.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"

namespace dasgd {
namespace {

template <typename Items>
std::vector<std::string> names_of_items(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

std::string show(const RivalParameter& parameter) {
  if (parameter.check) return parameter.example;
  return parameter.words.empty() ? show_real(parameter.usual)
                                 : parameter.words[static_cast<std::size_t>(parameter.usual)];
}

double checked(const RivalParameter& parameter, const std::string& rival, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(rival + ": " + parameter.name + " = " + text + " " + why);
  };
  if (!parameter.words.empty()) {
    const auto at = std::find(parameter.words.begin(), parameter.words.end(), text);
    if (at == parameter.words.end()) refuse("is unknown" + suggestion(text, parameter.words));
    return static_cast<double>(at - parameter.words.begin());
  }
  double value = 0;
  try {
    value = parse_real(text);
  } catch (const InputError&) {
    refuse("is not a number");
  }
  if (parameter.whole && value != std::floor(value)) refuse("is not a whole number");
  if (value < parameter.least) refuse("must be at least " + show_real(parameter.least));
  if (value > parameter.most) refuse("must be at most " + show_real(parameter.most));
  return value;
}

std::string checked_text(const RivalParameter& parameter, const std::string& rival,
                         const std::string& text) {
  try {
    parameter.check(text);
  } catch (const InputError& error) {
    throw InputError(rival + ": " + parameter.name + ": " + error.what());
  }
  return text;
}

}  // namespace

double RivalParameter::meant(double value, std::size_t workers) const {
  if (value != 0 || of_workers == 0) return value;
  return std::max(1.0, std::floor(of_workers * static_cast<double>(workers)));
}

const RivalParameter& ChosenRival::parameter(const std::string& name) const {
  return *std::ranges::find(kind.parameters, name, &RivalParameter::name);
}

std::string ChosenRival::label_with(const RivalNumbers& chosen) const {
  if (tuned.empty() || chosen.at(tuned) == parameter(tuned).usual) return label;
  return label + ":" + tuned + "=" + show_real(chosen.at(tuned));
}

ChosenRival choose_rival(const std::string& text, const std::vector<RivalKind>& kinds) {
  auto parts = split(text, ':');
  const std::string name = parts.empty() ? "" : parts.front();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.name == name; });
  if (kind == kinds.end())
    throw InputError("unknown rival \"" + name + "\"" + suggestion(name, names_of_items(kinds)));
  ChosenRival chosen{text, *kind, {}};
  for (const RivalParameter& parameter : kind->parameters) {
    if (!parameter.check) chosen.numbers[parameter.name] = parameter.usual;
    if (parameter.tuned) chosen.tuned = parameter.name;
  }
  for (std::size_t k = 1; k < parts.size(); ++k) {
    while (k + 1 < parts.size() && parts[k + 1].find('=') == std::string::npos &&
           parts[k].find('=') != std::string::npos) {  // topology=torus:4x4
      parts[k] += ":" + parts[k + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
    const std::size_t equals = parts[k].find('=');
    const std::string key = parts[k].substr(0, equals);
    const auto at = std::find_if(kind->parameters.begin(), kind->parameters.end(),
                                 [&](const auto& p) { return p.name == key; });
    if (kind->parameters.empty())
      throw InputError(name + " has no parameters; leave :" + parts[k] + " out");
    if (at == kind->parameters.end())
      throw InputError(name + " has no parameter \"" + key + "\"" +
                       suggestion(key, names_of_items(kind->parameters)));
    if (equals == std::string::npos)
      throw InputError(name + ": " + key + " needs a value, like " + key + "=" + show(*at));
    if (chosen.tuned == key) chosen.tuned.clear();
    const std::string value = parts[k].substr(equals + 1);
    if (at->check)
      chosen.texts[key] = checked_text(*at, name, value);
    else
      chosen.numbers[key] = checked(*at, name, value);
  }
  return chosen;
}

}  // namespace dasgd
