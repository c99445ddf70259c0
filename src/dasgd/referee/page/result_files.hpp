// What a comparison leaves on disk.
#pragma once

#include <string>
#include <vector>

#include "dasgd/base/files/write_all.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/referee/results.hpp"

namespace dasgd {

/// compare.csv, curves.csv, compare.json, the pictures and, if it is wanted, compare.html; of real
/// runs predicted.csv as well.
template <typename Real>
void write_results(const std::string& directory, const Objective<Real>& objective,
                   const Contest& contest, const std::vector<ContestRow>& rows,
                   const std::vector<JudgedWorld>& worlds, bool with_page, WriteAll& write);

}  // namespace dasgd
