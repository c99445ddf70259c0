// Runs `dasgd compare` and reads what it writes.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "app/app.hpp"

namespace dasgd::test {

class Compare : public App {
 protected:
  /// compare.csv, a map per line.
  std::vector<std::map<std::string, std::string>> rows() { return rows(out()); }
  std::vector<std::map<std::string, std::string>> rows(const std::string& directory) {
    std::istringstream text(read_text(directory + "/compare.csv"));
    std::vector<std::map<std::string, std::string>> all;
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);) {
      std::vector<std::string> cells;
      std::istringstream parts(line + ",");
      for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
      if (names.empty()) {
        names = cells;
        continue;
      }
      auto& row = all.emplace_back();
      for (std::size_t k = 0; k < names.size(); ++k) row[names[k]] = cells.at(k);
    }
    return all;
  }
  json result() { return json::parse(read_text(out() + "/compare.json")); }
  const std::string small = "compare --model quadratic --workers 4 --quick ";
};

}  // namespace dasgd::test
