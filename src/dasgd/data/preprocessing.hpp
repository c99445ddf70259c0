// What is done to raw numbers before a model sees them, and what its answers mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/data/column_encoding.hpp"
#include "dasgd/data/number_rows.hpp"

namespace dasgd {

enum class Scale {
  none,      ///< numbers as they are
  by_255,    ///< divided by 255: pixels from 0 to 1
  standard,  ///< mean 0 and deviation 1 over the training part: each column, or each channel, and
             ///< targets that are numbers
  inputs,    ///< the same, but targets as they are
};

/// "standard", "inputs", "255" or "none". Throws InputError for anything else.
Scale parse_scale(const std::string& text);
std::string to_string(Scale scale);
/// Whether inputs get mean 0 and deviation 1.
inline bool is_standard(Scale scale) { return scale == Scale::standard || scale == Scale::inputs; }

/// What to do with numbers that are missing.
enum class Missing {
  error,   ///< refuse the file
  drop,    ///< the rows that miss one go
  mean,    ///< the column's mean over the training part takes their place; a missing text is a
           ///< category of its own
  median,  ///< the same with the median
  most_frequent,  ///< the most frequent value takes their place, of texts too
};
/// Whether something takes the place of missing values.
inline bool fills(Missing missing) { return missing >= Missing::mean; }
Missing parse_missing(const std::string& text);
std::string to_string(Missing missing);

/// How the outputs of a model are to be read.
enum class Answers {
  number,  ///< one real number
  scores,  ///< one per class; softmax makes probabilities of them
  shares,  ///< one per class, trained to be 1 for the right one and 0 for the others
  margin,  ///< one: above 0 for the second of two classes
};
std::string to_string(Answers answers);

/// A target in the units of the data, and as a model learns it.
struct TargetScale {
  double mean = 0, deviation = 1;

  double standardised(double target) const { return (target - mean) / deviation; }
};

struct Preprocessing {
  std::vector<std::int64_t> shape;  ///< of one raw sample; empty: not known
  Scale scale = Scale::none;
  std::vector<float> mean, factor;  ///< (x - mean) * factor, per column or channel
  std::vector<float> fill;  ///< for missing numbers, one for each of a sample; empty: none may miss
  Missing missing = Missing::error;
  bool resize = false;                   ///< pictures of other sizes are brought to this one
  std::vector<std::string> columns;      ///< their names, where they have any
  std::string label;                     ///< the name of the label's column, where it has one
  std::size_t label_at = 0;              ///< its place among the columns of the training file that
                                         ///< were not excluded, from 0
  bool label_comma = false;              ///< it is a number with a decimal comma
  std::vector<ColumnEncoding> encoding;  ///< of the columns of a table; empty: plain numbers
  std::vector<std::string> classes;      ///< what the answers are called; empty: they are numbers
  Answers answers = Answers::scores;
  std::optional<TargetScale> target;  ///< of answers that are numbers; nothing: as they are

  /// Numbers of one raw sample.
  std::size_t width() const;
  /// Scales one sample in place and fills in what is missing.
  void apply(std::span<float> sample) const;
  /// The value of `per_column` for the whole sample: of the column, or of its channel.
  std::size_t period() const;
};

/// Throws InputError with "path: row N ..." for a number that is infinite, or missing where none
/// may be. An empty list is all rows.
void require_numbers(const NumberRows& inputs, std::span<const std::uint32_t> rows, bool may_miss,
                     const std::string& path);

/// Finds mean, factor and fill over these rows of the data, with all cores. Throws InputError with
/// "path: row N ..." for numbers that are missing where none may be. An empty list is all rows.
void fit(Preprocessing& to, const NumberRows& inputs, std::span<const std::uint32_t> rows,
         const std::string& path);

/// Mean and deviation of these rows of the targets; deviation 1 where all are the same, nothing
/// where they have no finite mean. An empty list is all rows.
std::optional<TargetScale> fit_target(std::span<const double> targets,
                                      std::span<const std::uint32_t> rows);

/// The text of preprocessing.json, indented.
std::string to_json(const Preprocessing& preprocessing);
/// Throws InputError naming `path` for a malformed text.
Preprocessing preprocessing_from_json(const std::string& text, const std::string& path);

/// A model or its samples, of which is known what they do to raw numbers.
class Preprocessed {
 public:
  virtual ~Preprocessed() = default;
  /// Null where there is nothing that a person could feed: an instance that was drawn.
  virtual const Preprocessing* preprocessing() const = 0;
};

}  // namespace dasgd
