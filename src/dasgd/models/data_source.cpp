#include "dasgd/models/data_source.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "dasgd/core/error.hpp"
#include "dasgd/data/arrays/array_data.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/cifar10.hpp"
#include "dasgd/data/rows/csv_file.hpp"
#include "dasgd/data/rows/libsvm.hpp"

namespace dasgd {
namespace {

// "X.npy,y.npy".
std::optional<std::pair<std::string, std::string>> split_pair(const std::string& data) {
  constexpr std::string_view ending = ".npy";
  const std::size_t at = data.find(".npy,");
  if (at == data.npos || !data.ends_with(ending)) return std::nullopt;
  return std::pair(data.substr(0, at + ending.size()), data.substr(at + ending.size() + 1));
}

// LIBSVM text has no commas, and CSV has some in its first line.
bool has_commas(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.find_first_not_of(" \t\r") == line.npos) {
  }
  line = line.substr(0, line.find('#'));
  return line.find(',') != line.npos;
}

// Files that people have instead of a table, by how they begin.
void refuse_other_formats(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;  // what is read from a pipe is gone
  struct Other {
    std::string_view begin;
    const char* what;
  };
  using namespace std::string_view_literals;
  constexpr std::array<Other, 10> others{{
      {"PAR1"sv,
       "a Parquet file; pandas.read_parquet(FILE).to_csv(\"table.csv\", index=False) converts it "
       "to CSV"},
      {"PK\x03\x04"sv, "an archive or an Excel file; save the sheet as CSV"},
      {"\xD0\xCF\x11\xE0"sv, "an old Excel file; save the sheet as CSV"},
      {"\x89PNG"sv,
       "a PNG picture; `data` takes a directory with a folder of pictures for each class"},
      {"\xFF\xD8\xFF"sv,
       "a JPEG picture; `data` takes a directory with a folder of pictures for each class"},
      {"ARROW1"sv,
       "a Feather file; pandas.read_feather(FILE).to_csv(\"table.csv\", index=False) converts it "
       "to CSV"},
      {"\x89HDF"sv, "an HDF5 file; save the table as CSV or the array as .npy"},
      {"SQLite format 3"sv, "an SQLite database; export the table as CSV"},
      {"\x1F\x8B"sv, "compressed; run gunzip first"},
      {"%PDF"sv, "a PDF document, which cannot be read as a table"},
  }};
  std::array<char, 16> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view begin(bytes.data(), static_cast<std::size_t>(file.gcount()));
  for (const Other& other : others)
    if (begin.starts_with(other.begin)) throw InputError(path + ": is " + other.what);
}

DataSource read_image_set(const std::string& path) {
  ImageSet set = read_images(path);
  std::vector<std::string> classes;
  for (std::size_t c = 0; c < set.classes; ++c) classes.push_back(std::to_string(c));
  return {to_raw(std::move(set.train), classes, path), to_raw(std::move(set.test), classes, path)};
}

DataSource read_folders(const std::string& path, const SourceOptions& options) {
  FolderOptions how{.resize = options.resize};
  if (const Preprocessing* const like = options.table.like; like && like->shape.size() == 3) {
    how.channels = static_cast<std::size_t>(like->shape[0]);
    if (like->resize)
      how.resize = {static_cast<std::size_t>(like->shape[1]),
                    static_cast<std::size_t>(like->shape[2])};
  }
  const auto train = part_folder(path, "train");
  DataSource source{read_image_folder(train.value_or(path), how)};
  if (const auto test = part_folder(path, "test")) {
    how.channels = static_cast<std::size_t>(source.data.shape[0]);
    source.test = read_image_folder(*test, how);
  }
  return source;
}

DataSource read_archive(const std::string& path, const TableOptions& options) {
  auto [data, test] = read_npz(path, options);
  return {std::move(data), std::move(test)};
}

const ArrayPair* in_memory(const std::string& data, const NamedArrays* arrays) {
  if (!arrays) return nullptr;
  const auto at = arrays->find(data);
  return at == arrays->end() ? nullptr : &at->second;
}

}  // namespace

DataKind kind_of_data(const std::string& data) {
  if (split_pair(data)) return DataKind::npy;
  const std::string path = locate_data(data);
  if (std::filesystem::is_directory(path))
    return !is_cifar10_directory(path) && is_image_folder(path) ? DataKind::image_folder
                                                                : DataKind::image_set;
  if (path.ends_with(".npy")) return DataKind::npy;
  if (path.ends_with(".npz")) return DataKind::npz;
  if (path.ends_with(".txt")) return DataKind::text;
  if (is_picture_file(path)) return DataKind::picture;
  refuse_other_formats(path);
  if (path.ends_with(".csv") || path.ends_with(".tsv")) return DataKind::csv;
  if (std::filesystem::is_fifo(path))  // what is read to look at it is gone
    throw InputError(path +
                     ": is a pipe of unknown format: end its name in .csv, .tsv or .txt, or use "
                     "`data` - for rows as they arrive");
  return has_commas(path) ? DataKind::csv : DataKind::libsvm;
}

ImageSet read_images(const std::string& directory) {
  return is_cifar10_directory(directory) ? read_cifar10_directory(directory)
                                         : read_idx_directory(directory);
}

DataSource read_source(const std::string& data, const SourceOptions& options) {
  const TableOptions& table = options.table;
  const auto require_names = [&](const std::string& what) {
    if (!table.exclude.empty())
      throw InputError("`exclude` is for the columns of CSV files; " + what + " is not one");
  };
  if (const ArrayPair* const arrays = in_memory(data, options.arrays)) {
    if (options.resize)
      throw InputError("`resize` is for folders of pictures; " + data + " is not one");
    require_names(data);
    return {read_arrays(*arrays, table)};
  }
  if (const auto pair = split_pair(data)) {
    require_names(data);
    return {read_npy(locate_data(pair->first), locate_data(pair->second), table)};
  }
  const std::string path = locate_data(data);
  const DataKind kind = kind_of_data(data);
  if (options.resize && kind != DataKind::image_folder && kind != DataKind::picture)
    throw InputError("`resize` is for folders of pictures; " + path + " is not one");
  if (kind != DataKind::csv) require_names(path);
  switch (kind) {
    case DataKind::image_set:
      return read_image_set(path);
    case DataKind::image_folder:
      return read_folders(path, options);
    case DataKind::picture:
      if (!table.like)
        throw InputError(path +
                         ": is one picture; `data` takes a directory with a folder of pictures "
                         "for each class");
      return read_folders(path, options);
    case DataKind::csv:
      return {read_csv(path, table)};
    case DataKind::libsvm:
      return {dense(read_libsvm_any(path), path, table.like ? table.like->width() : 0)};
    case DataKind::npy:
      return {read_npy(path, std::nullopt, table)};
    case DataKind::npz:
      return read_archive(path, table);
    case DataKind::text:
      break;
  }
  throw InputError(path + ": is a text; `model` char-transformer or gpt reads it");
}

}  // namespace dasgd
