#include "dasgd/record/checkpoints/checkpoint_directory.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "dasgd/base/files/atomic_file.hpp"

namespace dasgd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = "checkpoint-", suffix = ".dasgd";

// The number in "checkpoint-000012.dasgd".
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Checkpoint read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || !fs::is_regular_file(path)) throw CorruptCheckpoint("cannot be opened");
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw CorruptCheckpoint("cannot be read");
  return decode(std::as_bytes(std::span(bytes)));
}

}  // namespace

std::vector<CheckpointDirectory::File> CheckpointDirectory::list() const {
  std::vector<File> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error))
    if (const auto number = number_of(entry.path().filename().string()))
      found.push_back({*number, entry.path().string()});
  std::sort(found.begin(), found.end(),
            [](const File& a, const File& b) { return a.number < b.number; });
  return found;
}

std::vector<std::string> CheckpointDirectory::files() const {
  std::vector<std::string> paths;
  for (const File& file : list()) paths.push_back(file.path);
  return paths;
}

void CheckpointDirectory::save(const Checkpoint& checkpoint) {
  std::error_code ignored;  // writing says what is wrong
  fs::create_directories(path_, ignored);
  const auto before = list();
  const std::uint64_t number = before.empty() ? 1 : before.back().number + 1;
  write_file(fmt::format("{}/{}{:06}{}", path_, prefix, number, suffix), encode(checkpoint));
  for (std::size_t i = 0; i + kept <= before.size(); ++i) fs::remove(before[i].path, ignored);
}

std::optional<Checkpoint> CheckpointDirectory::newest_good(
    const std::function<void(const std::string&)>& refuse) const {
  const auto found = list();
  for (auto file = found.rbegin(); file != found.rend(); ++file) {
    try {
      return read(file->path);
    } catch (const CorruptCheckpoint& error) {
      refuse(file->path + ": " + error.what());
    }
  }
  return std::nullopt;
}

void CheckpointDirectory::clear() {
  std::error_code ignored;
  for (const File& file : list()) fs::remove(file.path, ignored);
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(partial_ending) || !entry.is_regular_file(ignored) ||
        entry.is_symlink(ignored))
      continue;
    name.resize(name.size() - partial_ending.size());
    if (number_of(name)) fs::remove(entry.path(), ignored);
  }
  if (fs::is_empty(path_, ignored) && !ignored) fs::remove(path_, ignored);
}

}  // namespace dasgd
