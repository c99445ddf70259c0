// What models do to the rows of a stream: nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/data/preprocessing.hpp"

namespace dasgd {

inline std::vector<std::string> numbered_classes(std::size_t classes) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  return names;
}

/// Numbers as they are, the label behind them.
inline Preprocessing row_preprocessing(std::size_t features, std::vector<std::string> classes,
                                       Answers answers) {
  Preprocessing rows;
  rows.shape = {static_cast<std::int64_t>(features)};
  rows.label_at = features;
  rows.classes = std::move(classes);
  rows.answers = answers;
  return rows;
}

}  // namespace dasgd
