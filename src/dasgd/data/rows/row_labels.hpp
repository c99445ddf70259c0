// What the labels of a stream mean, learned from its first rows where that is not said.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/rows/row_text.hpp"

namespace dasgd {

class RowLabels {
 public:
  virtual ~RowLabels() = default;
  /// Every label is shown here first, as it is written. Throws the mistake `at` its line for one
  /// that cannot be.
  virtual void see(double label, const RowText& at) = 0;
  /// Whether the labels so far determine what all of them mean.
  virtual bool known() const = 0;
  /// No further rows are needed to decide.
  virtual void settle() = 0;
  /// What models want in its place.
  virtual double meaning(double label) const = 0;
  virtual std::size_t classes() const = 0;
  /// The two labels as they are written, -1 first; nothing where classes are 0, 1, ...
  virtual std::vector<std::string> signs() const { return {}; }
};

/// -1/+1, 0/1 or 1/2 become -1 and +1. The first label that is not 1 decides which; where none of
/// the first rows has one, 1 is +1.
std::unique_ptr<RowLabels> sign_labels();

/// Classes 0, 1, ..., as many as are given or as the first rows have, and at least 2.
std::unique_ptr<RowLabels> class_labels(std::optional<std::size_t> classes);

}  // namespace dasgd
