#include "dasgd/report/membership.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "dasgd/base/parse_json.hpp"

namespace dasgd::report {
using Json = nlohmann::ordered_json;
namespace {

constexpr std::size_t most_changes = 200;  // of one member
constexpr std::size_t most_members = 500;

bool is_change(const Json& line) {
  return line.is_object() && line.contains("seconds") && line["seconds"].is_number() &&
         line.contains("origin") && line["origin"].is_string() && line.contains("name") &&
         line["name"].is_string() && line.contains("state") && line["state"].is_string();
}

struct Story {
  std::string name;
  std::deque<Json> changes;
};

}  // namespace

Json read_membership(const std::string& directory) {
  const std::filesystem::path path = std::filesystem::path(directory) / "membership.jsonl";
  if (!std::filesystem::is_regular_file(path)) return nullptr;
  std::ifstream file(path);
  std::vector<Story> stories;
  std::map<std::string, std::size_t> places;
  for (std::string text; std::getline(file, text);) {
    const Json line = parse_json<Json>(text);
    if (!is_change(line)) continue;
    const auto [at, is_new] = places.emplace(line["origin"].get<std::string>(), stories.size());
    if (is_new) stories.emplace_back();
    Story& story = stories[at->second];
    story.name = line["name"];
    story.changes.push_back(Json::array({line["seconds"], line["state"]}));
    if (story.changes.size() > most_changes) story.changes.pop_front();
  }
  // Those who were seen last, and the first of all, whose directory this is.
  if (stories.size() > most_members)
    stories.erase(stories.begin() + 1,
                  stories.end() - static_cast<std::ptrdiff_t>(most_members - 1));
  Json members = Json::array();
  for (const Story& story : stories)
    members.push_back({{"name", story.name}, {"changes", story.changes}});
  return members;
}

}  // namespace dasgd::report
