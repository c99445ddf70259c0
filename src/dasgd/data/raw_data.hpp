// A data set as it was read, before anything is made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/data/column_encoding.hpp"
#include "dasgd/data/number_rows.hpp"

namespace dasgd {

/// A label per row, as it is written: a number or a text.
struct Labels {
  std::vector<double> values;
  std::vector<std::string> names;  ///< of texts, whose values are places in here; empty: numbers
};

struct RawData {
  std::string path;                      ///< for messages
  std::vector<std::int64_t> shape;       ///< of one sample: {3, 32, 32} for an image, {8} for a row
  std::vector<std::string> columns;      ///< names of a row's numbers, where they have any
  std::string label;                     ///< the name of the label's column, where it has one
  std::size_t label_at = 0;              ///< its place, from 0; excluded columns do not count
  bool label_comma = false;              ///< it is a number with a decimal comma
  std::vector<ColumnEncoding> encoding;  ///< of a table; empty: all columns are plain numbers
  std::shared_ptr<const NumberRows> inputs;
  Labels labels;                         ///< empty where none were asked for
  std::vector<std::string> classes;      ///< where the layout of the data names them
  std::size_t missing = 0, dropped = 0;  ///< numbers that are not there, rows that went for it
  std::vector<std::pair<std::string, std::size_t>> unknown;  ///< texts that a model does not know
  std::vector<std::string> files;    ///< the names of pictures, where each sample is one
  std::vector<std::size_t> numbers;  ///< of the rows in the file, where rows were dropped
  std::string note;                  ///< how the file was read, where that may surprise

  std::size_t rows() const { return inputs->rows(); }
};

/// Labels are below this, and there are not more classes.
inline constexpr std::size_t most_classes = 100'000;

/// The names of the classes, in the order of their numbers. Whole numbers from 0 are their own
/// numbers, unless they are beyond 100 and mostly gaps; other labels (texts, -1 and 1, whole
/// numbers from 1) are counted in ascending order. Throws InputError naming the file for labels
/// that are not classes.
std::vector<std::string> find_classes(const RawData& data);

/// The number of the class of each row. Throws InputError for a label that is not one of `classes`.
std::vector<double> to_classes(const RawData& data, const std::vector<std::string>& classes);

/// A number as a person would write it: 3, 0.5.
std::string plain_number(double number);

}  // namespace dasgd
