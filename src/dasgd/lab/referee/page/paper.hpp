// A comparison for a paper: every panel as SVG and PDF, the table as LaTeX and CSV, a record to
// cite.
#pragma once

#include <string>
#include <vector>

#include "dasgd/lab/referee/page/pictures.hpp"

namespace dasgd {

struct PaperOptions {
  double width_mm = 84;  ///< of a panel: a column of most journals
  double font_pt = 8;
};

/// A file of the directory for the paper, with what it holds.
using PaperFile = std::pair<std::string, std::string>;

/// Panels one by one, as wide as the options say, table.tex, table.csv and record.txt. The same
/// comparison gives the same bytes. `facts`: as the page has them.
std::vector<PaperFile> paper_files(const PaperOptions& options, const Contest& contest,
                                   const std::vector<JudgedWorld>& worlds,
                                   const std::vector<ComparePicture>& pictures,
                                   const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace dasgd
