// LIBSVM text: one "label index:value index:value ..." per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/data/raw_data.hpp"
#include "dasgd/data/rows/row.hpp"

namespace dasgd {

/// Sparse rows with a label each.
struct LabelledRows {
  std::vector<std::size_t> row_start{0};  ///< row r holds entries row_start[r] .. row_start[r + 1]
  std::vector<std::uint32_t> columns;     ///< 0-based
  std::vector<double> values;
  std::vector<double> labels;
  std::size_t dimension = 0;
  std::vector<std::string> classes;  ///< how -1 and +1 are written in the file, where labels are so

  std::size_t rows() const { return labels.size(); }
};

/// Reads a file with labels -1/+1, 0/1 or 1/2, which become -1 and +1. Rows without features,
/// trailing blanks, blank lines, CRLF, `#` comments, a byte order mark and a missing last newline
/// are legal; indices start at 1 and ascend in a row. Throws InputError with "path:line: ..." for
/// everything else, NaN, infinity and what float32 cannot hold included.
LabelledRows read_libsvm(const std::string& path);
/// The same with any finite labels, which stay as they are.
LabelledRows read_libsvm_any(const std::string& path);

/// Rows with their zeros written out, as many numbers each as the model takes that wants to see
/// them (0: as the file has). Throws InputError for more than that.
RawData dense(const LabelledRows& rows, const std::string& path, std::size_t width = 0);

/// One line by the same rules, with any finite label; nothing where it is blank or a comment.
/// Throws InputError with "path:number: ...".
std::optional<Row> read_libsvm_line(std::string_view line, const std::string& path,
                                    std::size_t number);

}  // namespace dasgd
