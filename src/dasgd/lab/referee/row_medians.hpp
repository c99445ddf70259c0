// Medians over the runs of a row.
#pragma once

#include <optional>
#include <vector>

#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/tuning.hpp"

namespace dasgd {

template <typename Value>
double median_over(const ContestRow& row, Value&& value) {
  std::vector<double> values;
  for (const ContestRun& run : row.runs) values.push_back(static_cast<double>(value(run)));
  return median_of(values);
}

/// Of a value that some runs have; nothing where none has it.
template <typename Value>
std::optional<double> median_where_known(const ContestRow& row, Value&& value) {
  std::vector<double> values;
  for (const ContestRun& run : row.runs)
    if (const auto v = value(run)) values.push_back(*v);
  return values.empty() ? std::nullopt : std::optional(median_of(values));
}

}  // namespace dasgd
