#include "dasgd/lab/experiments/cell_file.hpp"

#include <fstream>
#include <span>

#include "dasgd/base/digest.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"

namespace dasgd {
namespace {

using Json = nlohmann::ordered_json;

std::string path_of(const std::string& stem, const std::string& setting) {
  constexpr std::size_t digits = 8;
  const std::string digest = digest_of(std::as_bytes(std::span(setting)));
  return stem + "-" + digest.substr(digest.find(':') + 1, digits) + ".json";
}

}  // namespace

void keep_cell(const std::string& stem, const Json& cell) {
  write_file(path_of(stem, cell.at("setting")), cell.dump());
}

Json find_cell(const std::string& stem, const std::string& setting) {
  for (const std::string& path : {path_of(stem, setting), stem + ".json"}) {
    std::ifstream file = open_file(path);
    if (!file) continue;
    Json cell = parse_json<Json>(file);
    if (cell.is_object() && cell.value("setting", "") == setting) return cell;
  }
  return nullptr;
}

}  // namespace dasgd
