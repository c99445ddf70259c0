// A data set in its parts, each row with what it is to be.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/data/part.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// Some rows of a data set.
struct DataPart {
  std::shared_ptr<const RawData> data;
  std::shared_ptr<const std::vector<double>> targets;  ///< of all its rows: classes or numbers
  std::optional<std::vector<std::uint32_t>> rows;      ///< of the part; nothing: all
  std::string from;                                    ///< where it comes from, in words

  std::size_t count() const { return !data ? 0 : rows ? rows->size() : data->rows(); }
  std::size_t row(std::size_t place) const { return rows ? (*rows)[place] : place; }
  double target(std::size_t place) const { return (*targets)[row(place)]; }
};

struct DataParts {
  std::vector<std::string> classes;  ///< empty: targets are numbers
  std::array<DataPart, 3> parts;

  const DataPart& operator[](Part part) const { return parts[static_cast<std::size_t>(part)]; }
  DataPart& operator[](Part part) { return parts[static_cast<std::size_t>(part)]; }
};

/// Moves a share of the training rows, drawn by `seed`, to the validation part. Throws InputError
/// where one of both would be empty.
void hold_out(DataParts& parts, double share, std::uint64_t seed);

}  // namespace dasgd
