#include "dasgd/report/tables/csv_table.hpp"

namespace dasgd::report {
std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !text.starts_with(' ') && !text.ends_with(' ');
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_field(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_field(std::string_view(value.get_ref<const std::string&>()))
                           : value.dump();
}

void TableColumns::add(const std::string& name) {
  if (places_.emplace(name, names_.size()).second) names_.push_back(name);
}

CsvFile::CsvFile(const std::string& path, const TableColumns& columns)
    : file_(path), columns_(columns.names()) {
  Row names;
  for (const std::string& name : columns_) names[name] = name;
  write(names);
}

void CsvFile::write(const Row& row) {
  std::string line;
  for (const std::string& name : columns_) {
    const auto at = row.find(name);
    if (&name != &columns_.front()) line += ',';
    if (at != row.end()) line += csv_field(*at);
  }
  file_.write(line + '\n');
}

}  // namespace dasgd::report
