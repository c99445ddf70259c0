// The page of a report and of the live view: one HTML file with its data in it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/report/run.hpp"

namespace dasgd::report {

/// What the page shows of a run.
nlohmann::ordered_json to_json(const Run& run);

/// The data of a page that shows `runs`.
nlohmann::ordered_json page_data(std::span<const Run> runs);

/// One figure of an experiment.
struct Figure {
  std::string title, svg;
};
/// The data of a page that shows the figures of an experiment and its table.
nlohmann::ordered_json page_data(const std::string& title, std::span<const Figure> figures,
                                 const nlohmann::ordered_json& table);

/// Puts the data into the page, as web/ builds it.
std::string fill_page(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace dasgd::report
