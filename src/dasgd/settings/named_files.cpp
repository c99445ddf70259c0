#include "dasgd/settings/named_files.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "dasgd/base/digest.hpp"
#include "dasgd/base/files/mapped_file.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/image_folder.hpp"

namespace dasgd::config {
namespace {

namespace fs = std::filesystem;

std::string digest_of_file(const std::string& path) {
  const MappedFile file(path);
  file.expect_sequential();
  return digest_of(std::as_bytes(std::span(file.bytes())));
}

// What data are read from: pictures in any folder, and idx and CIFAR files beside each other. Runs
// may be written into the same directory.
bool is_of_data(const fs::path& file, int depth) {
  return is_picture_file(file.string()) ||
         (depth == 0 && (file.extension() == ".bin" ||
                         file.filename().string().find("ubyte") != std::string::npos));
}

std::string digest_of_directory(const fs::path& path) {
  std::set<fs::path> files;
  for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied),
       end;
       at != end; ++at)
    if (at->is_regular_file() && is_of_data(at->path(), at.depth())) files.insert(at->path());
  std::string digests;
  for (const fs::path& file : files)
    digests += file.lexically_relative(path).string() + " " + digest_of_file(file.string()) + "\n";
  return digest_of(std::as_bytes(std::span(digests)));
}

// A value may be one name, several with commas in between, or have a word before the name.
std::vector<std::string> names_in(std::string_view value) {
  std::vector<std::string> names{std::string(value)};
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = std::min(value.find(',', at), value.size());
    std::string_view piece = value.substr(at, end - at);
    names.emplace_back(piece);
    if (const auto colon = piece.find(':'); colon != piece.npos)
      names.emplace_back(piece.substr(colon + 1));
    at = end + 1;
  }
  return names;
}

}  // namespace

std::map<std::string, std::string> digests_of_named_files(std::span<const std::string> settings) {
  std::map<std::string, std::string> digests;
  std::set<std::string, std::less<>> known;
  const auto look_at = [&](const std::string& name) {
    const auto path = find_data(name);
    if (!path) return;
    if (fs::is_regular_file(*path))
      digests[name] = digest_of_file(*path);
    else if (name.find('/') != name.npos && fs::is_directory(*path))
      digests[name] = digest_of_directory(*path);
  };
  for (const std::string& text : settings)
    for (auto open = text.find('"'); open != text.npos;) {
      const std::size_t close = std::min(text.find('"', open + 1), text.size());
      const auto value = std::string_view(text).substr(open + 1, close - open - 1);
      if (!known.contains(value)) {
        known.emplace(value);
        for (const std::string& name : names_in(value)) look_at(name);
      }
      open = close < text.size() ? text.find('"', close + 1) : text.npos;
    }
  return digests;
}

}  // namespace dasgd::config
