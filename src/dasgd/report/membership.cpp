#include "dasgd/report/membership.hpp"

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

struct MemberHistory {
  std::string name;
  std::deque<Json> changes;
};

}  // namespace

Json read_membership(const std::string& directory) {
  const std::filesystem::path path = std::filesystem::path(directory) / "membership.jsonl";
  if (!std::filesystem::is_regular_file(path)) return nullptr;
  std::ifstream file(path);
  std::vector<MemberHistory> histories;
  std::map<std::string, std::size_t> places;
  for (std::string text; std::getline(file, text);) {
    const Json line = parse_json<Json>(text);
    if (!is_change(line)) continue;
    const auto [at, is_new] = places.emplace(line["origin"].get<std::string>(), histories.size());
    if (is_new) histories.emplace_back();
    MemberHistory& history = histories[at->second];
    history.name = line["name"];
    history.changes.push_back(Json::array({line["seconds"], line["state"]}));
    if (history.changes.size() > most_changes) history.changes.pop_front();
  }
  // Those that were seen last, and the first of all, whose directory this is.
  if (histories.size() > most_members)
    histories.erase(histories.begin() + 1,
                    histories.end() - static_cast<std::ptrdiff_t>(most_members - 1));
  Json members = Json::array();
  for (const MemberHistory& history : histories)
    members.push_back({{"name", history.name}, {"changes", history.changes}});
  return members;
}

}  // namespace dasgd::report
