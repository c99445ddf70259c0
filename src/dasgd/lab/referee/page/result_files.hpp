// What a comparison leaves on disk.
#pragma once

#include <string>
#include <vector>

#include "dasgd/base/files/write_all.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/page/paper.hpp"
#include "dasgd/lab/referee/results.hpp"

namespace dasgd {

struct ResultOptions {
  bool page = true;                                             ///< compare.html as well
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< what was compared, for readers
  std::string paper = {};  ///< a directory for the files of a paper; empty: none
  PaperOptions paper_options = {};
};

/// compare.csv, curves.csv, compare.json, the pictures and what the options want; of real runs
/// predicted.csv as well.
template <typename Real>
void write_results(const std::string& directory, const Objective<Real>& objective,
                   const Contest& contest, const std::vector<ContestRow>& rows,
                   const std::vector<JudgedWorld>& worlds, const ResultOptions& options,
                   WriteAll& write);

}  // namespace dasgd
