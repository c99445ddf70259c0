#include "dasgd/data/linear_system.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw InputError(path + ": " + why);
}

json parse(const std::string& path) {
  std::ifstream file = open_file(path);
  if (!file)
    fail(path, "cannot be opened; `data` needs a JSON file {\"A\": [[...]], \"b\": [...]}");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    RepeatedKeys<json> repeated;
    json parsed = json::parse(text, [&](int depth, json::parse_event_t event, json& at) {
      return repeated(depth, event, at);
    });
    if (repeated.found()) fail(path, "repeats a key");
    return parsed;
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min<std::size_t>(error.byte, text.size());
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw InputError(path + ":" + std::to_string(line) + ": is malformed JSON from here on");
  } catch (const json::exception&) {
    fail(path, "holds a number that is too large");
  }
}

std::vector<double> numbers(const json& list, const std::string& path, const std::string& name) {
  if (!list.is_array() || list.empty()) fail(path, name + " must be a list of numbers");
  std::vector<double> result;
  for (const json& item : list) {
    if (!item.is_number() || !std::isfinite(item.get<double>()))
      fail(path, name + "[" + std::to_string(result.size()) + "] is not a finite number");
    result.push_back(item.get<double>());
  }
  return result;
}

}  // namespace

LinearSystem read_linear_system(const std::string& path) {
  const json file = parse(path);
  if (!file.is_object() || !file.contains("A") || !file.contains("b"))
    fail(path, "must be an object with the keys \"A\" and \"b\"");
  const json& matrix = file["A"];
  if (!matrix.is_array() || matrix.empty()) fail(path, "A must be a list of rows");
  LinearSystem system;
  for (const json& row : matrix) {
    const std::string name = "A[" + std::to_string(system.rows) + "]";
    const auto entries = numbers(row, path, name);
    if (system.rows == 0) system.columns = entries.size();
    if (entries.size() != system.columns)
      fail(path, name + " has " + std::to_string(entries.size()) + " numbers; A[0] has " +
                     std::to_string(system.columns));
    system.a.insert(system.a.end(), entries.begin(), entries.end());
    ++system.rows;
  }
  system.b = numbers(file["b"], path, "b");
  if (system.b.size() != system.rows)
    fail(path, "b has " + std::to_string(system.b.size()) + " numbers; A has " +
                   std::to_string(system.rows) + " rows");
  return system;
}

}  // namespace dasgd
