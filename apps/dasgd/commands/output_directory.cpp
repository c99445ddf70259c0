#include "commands/output_directory.hpp"

#include <filesystem>

#include "dasgd/core/error.hpp"

namespace dasgd::app {

std::string output_directory(const std::vector<std::string>& paths, const std::string& out,
                             const std::string& of_several) {
  for (const std::string& path : paths)
    if (!std::filesystem::is_directory(path))
      throw InputError(path + ": is not a directory; the directory of a run or a sweep is needed");
  if (out.empty() && paths.size() == 1) return paths.front();
  const std::string directory = out.empty() ? of_several : out;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("--out " + directory + ": cannot be made a directory: " + error.message());
  return directory;
}

}  // namespace dasgd::app
