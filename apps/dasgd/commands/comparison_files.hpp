// What `dasgd report` and `dasgd export` do with the directory of a comparison.
#pragma once

#include <string>
#include <vector>

namespace dasgd::app {

/// Whether `dasgd compare` has left its results there. Throws InputError if it has not finished.
bool is_comparison(const std::string& directory);

/// The verdicts and medians of compare.json, for a terminal.
std::string comparison_text(const std::string& directory);

/// The page and the pictures, copied to `out` where that is another directory. Returns where they
/// are, the page first. `dasgd compare` has written them: its runs alone are not enough for a page.
std::vector<std::string> comparison_report(const std::string& directory, const std::string& out);

/// runs.csv and metrics.csv, which are compare.csv and curves.csv by the names that export has.
std::vector<std::string> export_comparison(const std::string& directory, const std::string& out);

}  // namespace dasgd::app
