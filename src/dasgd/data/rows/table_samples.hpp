// Rows of numbers for networks: CSV and LIBSVM.
#pragma once

#include <string>

#include "dasgd/data/rows/libsvm.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd {

/// Rows of numbers with a target each.
struct Table {
  std::size_t columns = 0;      ///< without the target
  std::vector<float> inputs;    ///< row after row
  std::vector<double> targets;  ///< a class or a number
};

/// Reads comma-separated numbers; the last column is the target. A first line without a
/// number is a header; a byte order mark is passed over. Throws InputError with "path:line: ..."
/// for anything else.
Table read_csv(const std::string& path);

/// The rows with their zeros written out; labels -1 and +1 become classes 0 and 1.
Table dense(const LabelledRows& rows, const std::string& path);

/// Every tenth row is for testing. Each column is shifted and scaled to mean 0 and deviation 1 over
/// the training rows; real targets stay as they are.
class TableSamples final : public Samples {
 public:
  /// `classes`: targets are classes, or InputError naming `path`; else they are real.
  TableSamples(Table table, bool classes, const std::string& path);

  const SampleFormat& format() const override { return format_; }
  std::size_t count(Split split) const override { return rows_[index(split)].size(); }
  void gather(Split split, Rows rows, Random* chance, SampleBatch& batch) const override;

 private:
  static std::size_t index(Split split) { return split == Split::train ? 0 : 1; }
  void normalise();

  Table table_;
  std::vector<std::uint32_t> rows_[2];  // of the table, for training and for testing
  SampleFormat format_;
};

}  // namespace dasgd
