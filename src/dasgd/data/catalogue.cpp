#include "dasgd/data/catalogue.hpp"

#include <cstdlib>
#include <filesystem>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> in_data_path(const std::string& name) {
  const char* const root = std::getenv("DASGD_DATA");
  if (!root || name.empty()) return std::nullopt;
  std::error_code unreadable;
  const fs::path path = fs::path(root) / name;
  return fs::exists(path, unreadable) ? std::optional(path.string()) : std::nullopt;
}

}  // namespace

std::string data_home() {
  const auto set = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
  };
  if (const auto chosen = set("DASGD_DATA")) return *chosen;
  if (const auto cache = set("XDG_CACHE_HOME")) return *cache + "/dasgd";
  return set("HOME").value_or(".") + "/.cache/dasgd";
}

const std::vector<KnownDataSet>& known_data_sets() {
  static const std::vector<KnownDataSet> sets{
      {"fashion-mnist", "70,000 grey images of clothes, 28 x 28, 10 classes",
       "softmax, mlp, cnn, resnet18", "dataset-fashion-mnist", "/usr/share/datasets/fashion-mnist"},
      {"cifar10", "60,000 colour images of things and animals, 32 x 32, 10 classes",
       "softmax, mlp, cnn, resnet18", "", data_home() + "/cifar10"}};
  return sets;
}

std::optional<std::string> find_installed(const KnownDataSet& set) {
  if (const auto path = in_data_path(set.name)) return path;
  if (fs::exists(set.installed_at)) return set.installed_at;
  return std::nullopt;
}

std::optional<std::string> find_data(const std::string& name) {
  std::error_code unreadable;
  return fs::exists(name, unreadable) ? name : in_data_path(name);
}

std::string locate_data(const std::string& name_or_path) {
  std::vector<std::string> names;
  for (const KnownDataSet& set : known_data_sets()) {
    names.push_back(set.name);
    if (set.name != name_or_path) continue;
    if (const auto path = find_installed(set)) return *path;
    throw InputError("data set " + set.name + " is not installed; run: dasgd data get " + set.name);
  }
  if (fs::is_character_file(name_or_path) || fs::is_block_file(name_or_path))
    throw InputError(name_or_path + ": is a device, not a file");  // most have no end
  if (const auto path = find_data(name_or_path)) return *path;
  const std::string nearest = nearest_word(name_or_path, names);
  throw InputError(
      "data \"" + name_or_path + "\" is neither a known name nor a file" +
      (nearest.empty() ? "; see: dasgd data list" : "; did you mean \"" + nearest + "\"?"));
}

}  // namespace dasgd
