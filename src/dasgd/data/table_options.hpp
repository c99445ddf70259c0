// How the columns of a table are to be read.
#pragma once

#include <string>
#include <vector>

#include "dasgd/data/preprocessing.hpp"

namespace dasgd {

struct TableOptions {
  std::string label = {};  ///< its column, by name or by number from 1; empty: the last
  std::vector<std::string> exclude = {};  ///< columns that are not inputs, by name or number
  Missing missing = Missing::error;       ///< numbers that are not there: empty, NA, NaN, null, ?
  bool classes = true;                    ///< labels may be texts; else they must be numbers
  bool needs_labels = true;               ///< a row without one is missing something
  /// Of a model that wants to see these rows: its columns, by name where both have names, else in
  /// its order. Then the label may be absent.
  const Preprocessing* like = nullptr;
};

}  // namespace dasgd
