// The page of a report and of the live view: one HTML file with its data in it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dasgd/report/run.hpp"

namespace dasgd::report {

/// What the page shows of a run.
nlohmann::ordered_json to_json(const Run& run);

/// The data of a page that shows `runs`.
nlohmann::ordered_json page_data(std::span<const Run> runs);

/// One figure of an experiment: its panels wrap where there is no room for them side by side.
struct Figure {
  std::string title, caption;
  std::vector<std::string> panels;  ///< SVG
  /// The same with linear axes, where those of `panels` are logarithmic; a page has a switch for
  /// it.
  std::vector<std::string> linear = {};
};
/// A page that shows figures and a table: of an experiment, of a sweep, or of a comparison.
struct FiguresPage {
  std::string title, subtitle;
  std::vector<Figure> figures;
  nlohmann::ordered_json table;
  std::vector<std::string> findings = {};  ///< sentences that stand first
  /// What was compared: names and values, below the title.
  std::vector<std::pair<std::string, std::string>> facts = {};
};
nlohmann::ordered_json page_data(const FiguresPage& page);

/// Puts the data into the page, as web/ builds it.
std::string fill_page(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace dasgd::report
