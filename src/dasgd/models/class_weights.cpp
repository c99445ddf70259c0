#include "dasgd/models/class_weights.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

std::vector<float> balanced(const DataParts& parts) {
  const DataPart& train = parts[Part::train];
  std::vector<double> count(parts.classes.size(), 0.0);
  for (std::size_t k = 0; k < train.count(); ++k)
    count[static_cast<std::size_t>(train.target(k))] += 1;
  const auto present = static_cast<double>(
      std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
  std::vector<float> weights;
  for (const double n : count)
    weights.push_back(n > 0 ? static_cast<float>(static_cast<double>(train.count()) / (present * n))
                            : 1.0f);
  return weights;
}

}  // namespace

std::vector<float> find_class_weights(const std::string& text, const DataParts& parts) {
  if (text.empty()) return {};
  if (parts.classes.empty())
    throw InputError("`class_weights` " + text + ": targets are numbers, not classes");
  if (text == "balanced") return balanced(parts);
  std::vector<float> weights(parts.classes.size(), 1.0f);
  std::set<std::string> given;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t colon = item.rfind(':');
    if (colon == item.npos)
      throw InputError("`class_weights` " + text + ": write balanced or NAME:WEIGHT,...");
    const auto at = std::find(parts.classes.begin(), parts.classes.end(), item.substr(0, colon));
    if (at == parts.classes.end())
      throw InputError("`class_weights`: there is no class \"" + item.substr(0, colon) + "\"");
    if (!given.insert(*at).second)
      throw InputError("`class_weights`: the class \"" + *at + "\" is given twice");
    const double weight = parse_real(item.substr(colon + 1));
    if (!(weight > 0 && weight < 1e6))
      throw InputError("`class_weights` " + item + ": a weight is a positive number");
    weights[static_cast<std::size_t>(at - parts.classes.begin())] = static_cast<float>(weight);
  }
  return weights;
}

}  // namespace dasgd
