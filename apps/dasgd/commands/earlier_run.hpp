// What an earlier run says of itself, for `--from RUN_DIR`.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::app {

/// `read(summary, seconds)` of the run's summary.json, and how long the run took. Throws
/// InputError.
template <typename Read>
auto from_summary(const std::string& directory, Read read) {
  const std::string path = directory + "/summary.json";
  std::ifstream in = open_file(path);
  if (!in) throw InputError(path + ": cannot be read; --from needs the directory of a run");
  try {
    const auto json = parse_json(in);
    if (json.is_discarded())
      throw InputError(path + ": is not the summary of a run: not JSON, or a key is given twice");
    const double seconds =
        json.contains("virtual_seconds") ? json["virtual_seconds"] : json.at("wall_seconds");
    return read(json, seconds);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path + ": is not the summary of a run: " + error.what());
  }
}

}  // namespace dasgd::app
