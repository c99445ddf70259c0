// What was understood of a CSV file, for a person.
#pragma once

#include <string>

#include "dasgd/data/preparation/prepared_samples.hpp"
#include "dasgd/data/rows/csv_file.hpp"

namespace dasgd {

/// Every column with its kind, its values and what becomes of it; the label or a guess at it; all
/// that would be refused. `label`: as the options of a table have it.
std::string describe_table(const CsvOverview& table, const std::string& path,
                           const std::string& label);

/// One line on what became of the columns of a table: "t.csv: 3 numbers, 1 date, city (4
/// categories); left out: id; 12 missing values are filled in". Empty where all are numbers,
/// none is missing and nothing else may surprise.
std::string describe_columns(const PreparedSamples& samples);

}  // namespace dasgd
