// A table as CSV (RFC 4180): fields in quotes where they need them, a line for every row.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"

namespace dasgd::report {

/// A field as it stands in the file.
std::string csv_field(std::string_view text);
/// A number, a truth or a text; null is an empty field.
std::string csv_field(const nlohmann::ordered_json& value);

/// Columns in the order in which they were first seen, each once.
class TableColumns {
 public:
  void add(const std::string& name);
  bool has(const std::string& name) const { return places_.contains(name); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
};

/// Writes rows of named values, the columns first; what a row does not have is empty.
class CsvFile {
 public:
  using Row = nlohmann::ordered_json;  ///< an object of numbers, truths, texts and nulls

  CsvFile(const std::string& path, const TableColumns& columns);
  void write(const Row& row);
  /// Gives the file its name. Throws WriteError.
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  const std::vector<std::string> columns_;
};

}  // namespace dasgd::report
