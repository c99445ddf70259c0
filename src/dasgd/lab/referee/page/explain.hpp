// What a reader of a comparison should know beyond its verdicts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/referee/results.hpp"

namespace dasgd {

/// How many seeds would probably show the difference between two methods that were run with the
/// same seeds: a paired test at 5 %, shared by so many comparisons, with a power of 80 %. Nothing
/// where nothing differs, or it takes more than a thousand.
std::optional<std::size_t> seeds_to_show(const ContestRow& row, const ContestRow& reference,
                                         std::size_t comparisons = 1);

/// Why no difference is shown where none is: "3 seeds cannot show it; about 12 would".
std::vector<std::string> unshown_differences(const Contest& contest,
                                             const std::vector<JudgedWorld>& worlds);

/// A goal that is reached within a few gradients, and worlds that do not differ.
std::vector<std::string> doubts_of(const Contest& contest, const std::vector<JudgedWorld>& worlds);

}  // namespace dasgd
